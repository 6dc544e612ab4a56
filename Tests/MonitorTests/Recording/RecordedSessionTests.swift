import Contracts
import EventBus
import FlowFiles
import FlowReview
import Foundation
import Monitor
import Navigation
import Testing

@Suite("Recorded sessions played on a flow")
struct RecordedSessionTests {
    private static let yaml = """
        name: shop
        version: 1
        platform: ios
        start: list
        screens: { list: , item: , other: }
        transitions:
          - on: command.ItemSelected
            do: [{ push: item }]
          - on: event.Emptied
            when: { path: item }
            do: [{ setRoot: list }]
        """

    private static func flow(_ yaml: String = yaml) throws -> Flow {
        try Flow(yaml: yaml, file: "shop.yaml")
    }

    /// The first state of a coordinator, then each input with the states that the coordinator publishes for the input.
    private static func recorded(_ inputs: [Envelope], on flow: Flow? = nil) throws -> [[Envelope]] {
        var machine = Machine(flow: try flow ?? Self.flow())
        let start = try document(machine.snapshot, causedBy: nil)
        return [[start]]
            + (try inputs.map { input in
                let revision = machine.revision
                let effects = Machine.Input(input).map { machine.handle($0) } ?? []
                let passed = effects.compactMap { if case .passed(let snapshot) = $0 { snapshot } else { nil } }
                let snapshots = passed + (machine.revision == revision ? [] : [machine.snapshot])
                return [input] + (try snapshots.map { try document($0, causedBy: input.id) })
            })
    }

    private static func document(_ snapshot: NavigationSnapshot, causedBy cause: String?) throws -> Envelope {
        let data = String(decoding: try JSONEncoder().encode(Document.NavigationState(snapshot)), as: UTF8.self)
        return try .recorded(
            cause.map { "\($0).ios.0" } ?? "start", "document.NavigationState", at: 1, data: data,
            source: "navigation-coordinator/1", causedBy: cause
        ) { $0.key = "ios" }
    }

    private static func story() throws -> [[Envelope]] {
        try recorded([
            try .recorded("a", "command.ItemSelected", at: 1), try .recorded("x", "event.Other", at: 1),
            try .recorded("b", "command.ItemSelected", at: 1), try .recorded("c", "event.Emptied", at: 1),
            try .recorded("d", "event.Emptied", at: 1),
        ])
    }

    private func play(
        _ messages: [Envelope], on flow: Flow, until end: RecordingMoment? = nil, since: MonitorStart = .beginning
    ) async throws -> (outcomes: [Scenario.Outcome], machine: Machine) {
        try await RecordingFile.with(RecordingFile.text(messages, since: since)) { recording in
            var outcomes: [Scenario.Outcome] = []
            let session = try await RecordedSession(recording, flow: flow, session: "default")
            let machine = try await session.play(until: end) { outcome in
                outcomes.append(outcome)
                return true
            }
            return (outcomes, machine)
        }
    }

    @Test("A recorded session leads to the recorded states, message by message")
    func same() async throws {
        let messages = try Self.story().flatMap(\.self)
        let (outcomes, machine) = try await play(messages, on: Self.flow())
        #expect(outcomes.map(\.number) == [2, 5, 7, 9], "of what the flow hears")
        #expect(outcomes.allSatisfy { $0.failures.isEmpty })
        #expect(outcomes[0].description == "2. command.ItemSelected: list → push item-2  shop.yaml:7")
        #expect(machine.revision == 3)
        let moment = try await play(messages, on: Self.flow(), until: .number(5))
        #expect(moment.machine.state.path.map(\.id) == ["item-2", "item-3"] && moment.outcomes.count == 2)
    }

    @Test("The launch of a recorded session begins the waits of rules, although no rule answers it")
    func waits() async throws {
        let flow = try Self.flow(Self.yaml + "\n  - { after: 3s, when: { top: list }, do: [{ push: other }] }")
        let messages = try Self.recorded(
            [
                try .recorded("a", "event.LaunchFinished", at: 1),
                try .recorded("b", "event.GuardDeadlinePassed", at: 4, data: #"{"attempt":"a.ios.wait-2"}"#),
            ], on: flow)
        let (outcomes, machine) = try await play(messages.flatMap(\.self), on: flow)
        #expect(outcomes.map(\.number) == [2, 4] && outcomes.allSatisfy { $0.failures.isEmpty }, "\(outcomes)")
        #expect(machine.state.top.screen == "other" && machine.revision == 2)
    }

    @Test("A recorded session is compared in any order of states and later messages, and with any end")
    func behind() async throws {
        let story = try Self.story()
        // The coordinator is two messages late, and the recording does not have its last state.
        let messages = [story[1][0], story[3][0], story[0][0], story[1][1], story[4][0]]
        let (outcomes, machine) = try await play(messages, on: Self.flow())
        #expect(outcomes.count == 3 && outcomes.allSatisfy { $0.failures.isEmpty })
        #expect(machine.revision == 3)
    }

    @Test("A recording that begins within a story begins with the first recorded state")
    func amid() async throws {
        let story = try Self.story()
        for messages in [story[3...].flatMap(\.self), Array(story[1...].flatMap(\.self).dropFirst())] {
            let (outcomes, machine) = try await play(messages, on: Self.flow())
            #expect(outcomes.allSatisfy { $0.failures.isEmpty }, "\(outcomes)")
            #expect(machine.revision == 3)
        }
        // Of the retained documents, only the state is played.
        let retained = [
            try Envelope.recorded("a0", "command.ItemSelected", at: 1), story[3][1], story[4][0], story[4][1],
        ]
        let (outcomes, _) = try await play(retained, on: Self.flow(), since: .retained)
        #expect(outcomes.map(\.number) == [3] && outcomes[0].failures.isEmpty)
    }

    @Test("A recording that begins with a released queue begins with its last state")
    func amidQueue() async throws {
        let flow = try Self.flow(
            Self.yaml + """

                  - on: command.Save
                    guard: { accept: event.Saved, deadline: 5s, meanwhile: queue }
                    do: [{ push: other }]
                """)
        let story = try Self.recorded(
            [
                try .recorded("a", "command.Save", at: 1), try .recorded("b", "command.ItemSelected", at: 1),
                try .recorded("c", "event.Saved", at: 1, causedBy: "a"), try .recorded("d", "event.Emptied", at: 1),
            ], on: flow)
        #expect(story.map(\.count) == [1, 2, 2, 3, 2])
        for messages in [story.flatMap(\.self), story[3...].flatMap(\.self)] {
            let (outcomes, machine) = try await play(messages, on: flow)
            #expect(outcomes.allSatisfy { $0.failures.isEmpty }, "\(outcomes)")
            #expect(machine.revision == 5)
        }
    }

    @Test("Each difference of a changed flow is reported once")
    func different() async throws {
        let messages = try Self.story().flatMap(\.self)
        let flow = try Self.flow(
            Self.yaml.replacing("push: item", with: "push: other").replacing("version: 1", with: "version: 2"))
        let (outcomes, _) = try await play(messages, on: flow)
        #expect(outcomes.map { $0.failures.map(\.aspect) } == [[.path], [.path], [], []])
        #expect(
            outcomes[0].failures[0].lines(in: "r.jsonl") == [
                "r.jsonl:3:1: 'path' is not what was recorded", "  - path: [item-2]", "  + path: [other-2]",
            ])
        let idle = try Self.flow(Self.yaml.replacing("{ path: item }", with: "{ root: list }"))
        #expect(
            try await play(messages, on: idle).outcomes.last?.failures.isEmpty == true, "nobody knows about the last")
        let same = try Self.flow(Self.yaml.replacing("version: 1", with: "version: 2"))
        #expect(try await play(messages, on: same).outcomes.allSatisfy { $0.failures.isEmpty })
    }

    @Test("A command that had expired is discarded in the replay too")
    func expired() async throws {
        var story = try Self.story()
        let late = try Envelope.recorded("late", "command.ItemSelected", at: 1)
        let discarded = try Envelope.recorded(
            "late.ios.0", "event.MessageDiscarded", at: 1, data: #"{"messageID":"late","reason":"expired"}"#,
            source: "navigation-coordinator/1", causedBy: "late"
        ) { $0.platform = "ios" }
        story.insert([late, discarded], at: 1)
        let (outcomes, _) = try await play(story.flatMap(\.self), on: Self.flow())
        #expect(outcomes.allSatisfy { $0.failures.isEmpty })
        #expect(outcomes[0].description == "2. command.ItemSelected: discarded: command.ItemSelected: expired")
    }

    @Test("A recording needs messages of the session, but no states")
    func session() async throws {
        let messages = try Self.story().flatMap(\.self)
        try await RecordingFile.with(RecordingFile.text(messages)) { recording in
            let error = await #expect(throws: RecordingError.self) {
                try await RecordedSession(recording, flow: Self.flow(), session: "alice")
            }
            #expect(error?.recovery == "choose one of its sessions: default")
            let missing = await #expect(throws: RecordingError.self) {
                try await RecordedSession(recording, flow: Self.flow(), session: "default")
                    .play(until: .id("none")) { _ in true }
            }
            #expect(missing?.code == "recording.moment")
        }
        let inputs = messages.filter { $0.type.kind != .document }
        try await RecordingFile.with(RecordingFile.text(inputs)) { recording in
            let session = try await RecordedSession(recording, flow: Self.flow(), session: "default")
            #expect(!session.hasStates)
            #expect(try await session.play { $0.failures.isEmpty }.revision == 3)
        }
    }
}
