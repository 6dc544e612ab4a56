import Contracts
import EventBus
import Foundation
import Navigation
import Support
import Testing

@testable import Monitor

@Suite("A replay")
struct ReplayTests {
    private static let coordinator = "navigation-coordinator/1"

    /// A presence, a tap, the results of a coordinator, an event of a service, and two messages that a coordinator
    /// publishes by its clock.
    private static func story() throws -> [Envelope] {
        [
            try .recorded("p1", "document.Presence", at: 1, source: "music-service/1") { $0.key = "1" },
            try .recorded("a", "command.PlaylistSelected", at: 2) { $0.expire(after: .seconds(60)) },
            try .recorded(
                "a.ios.0", "document.NavigationState", at: 3, source: coordinator, causedBy: "a", in: "a"
            ) { $0.key = "ios" },
            try .recorded("a.ios.1", "command.Load", at: 4, source: coordinator, causedBy: "a", in: "a"),
            try .recorded(
                "b", "event.Loaded", at: 5, source: "music-service/1", causedBy: "a.ios.1", in: "a", after: 1),
            try .recorded("g", "command.ScreenGone", at: 6, source: coordinator, after: 2),
            try .recorded(
                "x.ios.deadline", "event.GuardDeadlinePassed", at: 7, source: coordinator, causedBy: "a", after: 3),
        ]
    }

    private func replayed(_ messages: [Envelope], _ plan: ReplayPlan = ReplayPlan()) async throws -> [Envelope] {
        try await RecordingFile.with(RecordingFile.text(messages)) { recording in
            let survey = try await ReplaySurvey(of: recording, plan)
            var sent: [Envelope] = []
            try await plan.forEachStep(of: recording, survey) { _, step in
                if case .send(let message) = step { sent.append(message) }
            }
            #expect(survey.count == sent.count)
            return sent
        }
    }

    @Test("A replay sends the messages from outside of navigation, and of clocks")
    func inputs() async throws {
        #expect(try await replayed(try Self.story()).map(\.id) == ["a", "b", "g", "x.ios.deadline"])
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let traced = try Envelope.recorded("t", "event.A", at: 1) { $0.traceparent = trace }
        #expect(try await replayed([traced]).map(\.attributes.traceparent) == [trace])
        var plan = ReplayPlan()
        plan.sendsResults = true
        #expect(try await replayed(try Self.story(), plan).count == 6, "never the presence of who is no more")
        plan.types = [try #require(MessagePattern("command.*"))]
        #expect(try await replayed(try Self.story(), plan).map(\.id) == ["a", "a.ios.1", "g"])
        plan.stretch = RecordingStretch(from: .number(3), until: .number(4))
        #expect(try await replayed(try Self.story(), plan).map(\.id) == ["a.ios.1"])
    }

    @Test("A replay does not send scheduled commands, because their services do")
    func scheduled() async throws {
        let timer = try Envelope.recorded("s1", "document.ScheduledCommand", at: 1, source: "brewer/1") {
            $0.key = "brewer.BrewElapsed"
        }
        let fired = try Envelope.recorded("s1~fired", "command.BrewElapsed", at: 2, source: "brewer/1", after: 1)
        for sendsResults in [false, true] {
            var plan = ReplayPlan()
            plan.sendsResults = sendsResults
            #expect(try await replayed([timer, fired], plan).map(\.id) == ["s1~fired"])
        }
    }

    @Test("A replay can have any speed", arguments: [1e-9, 1e-300, .leastNonzeroMagnitude])
    func slow(speed: Double) {
        var clock = ReplayClock(.speed(speed))
        let start = Date()
        #expect(clock.instant(for: start) == nil)
        let due = clock.instant(for: start + 10)
        #expect(due.map { $0 > .now + .seconds(1e9) } == true)
    }

    @Test("A replay recognises what a coordinator publishes again, in any process")
    func roles() async throws {
        let long = String(repeating: "a", count: 200)
        let results = try [
            Envelope.recorded("a.ios.0", "command.Load", at: 1, source: "shop/1", causedBy: "a"),
            .recorded(DerivedID.make(from: long, platform: "ios", name: "0"), "event.B", at: 2, causedBy: long),
            .recorded("start", "document.NavigationState", at: 3, source: "shop/1"),
            .recorded("n-1", "document.ErrorBanner", at: 4, source: "error-notifier/1"),
            .recorded("n-2", "event.MessageDiscarded", at: 5, source: "error-notifier/1", causedBy: "a"),
        ]
        #expect(results.map { ReplayRole(of: $0) } == results.map { _ in .result })
        let inputs = try [
            Envelope.recorded("s-12", "event.Loaded", at: 1, source: "shop/1", causedBy: "s-1"),
            .recorded("s-13", "document.Devices", at: 2, source: "shop/1", causedBy: "a"),
        ]
        #expect(inputs.map { ReplayRole(of: $0) } == [.input, .input])
        // A coordinator reports an expired command again. A service may not be running in the replay.
        let command = try Envelope.recorded("a", "command.PlaylistSelected", at: 1)
        let errors = try [Self.coordinator, "music-service/1"].map { try #require(try command.expiryError(source: $0)) }
        #expect(errors.map { ReplayRole(of: $0) } == [.result, .input])
        for type in ["document.ServiceContract", "event.MetricsRequested", "event.MetricsReported"] {
            #expect(try ReplayRole(of: .recorded("c", type, at: 1)) == .past)
        }
    }

    @Test("A replay keeps ids and times, and expiry counts from now, unless a command had expired")
    func same() async throws {
        let late = try Envelope.recorded("late", "command.PlaylistSelected", at: 8) { $0.expire(after: .seconds(60)) }
        let discarded = try Envelope.recorded(
            "late.ios.0", "event.MessageDiscarded", at: 9, data: #"{"messageID":"late","reason":"expired"}"#,
            source: Self.coordinator, causedBy: "late")
        let messages = try Self.story() + [late, discarded]
        let sent = try await replayed(messages)
        for (message, original) in zip(sent, [messages[1], messages[4]]) {
            #expect(message.attributes.time == original.attributes.time && message.data == original.data)
            #expect(message.attributes.causationID == original.attributes.causationID)
        }
        #expect(sent[0].attributes.isExpired(at: Date().addingTimeInterval(50)) == false)
        #expect(sent[0].attributes.isExpired(at: Date().addingTimeInterval(61)))
        #expect(sent.last?.id == "late" && sent.last?.attributes.isExpired() == true)
    }

    @Test("New ids replace the old ones everywhere, also in data")
    func new() async throws {
        var plan = ReplayPlan()
        plan.identity = .new(prefix: "n~")
        let messages =
            try Self.story() + [
                try .recorded("d", "command.ErrorDismissed", at: 8, data: #"{"errorID": "b", "other": ["bb", 1.0]}"#)
            ]
        let sent = try await replayed(messages, plan)
        #expect(sent.map(\.id) == ["n~a", "n~b", "n~g", "n~x.ios.deadline", "n~d"])
        #expect(sent[1].attributes.causationID == "n~a.ios.1" && sent[1].attributes.correlationID == "n~a")
        #expect(sent[1].attributes.causationID == DerivedID.make(from: sent[0].id, platform: "ios", name: "1"))
        #expect(try JSONValue(parsing: sent[4].data) == ["errorID": "n~b", "other": ["bb", 1]])
        #expect(sent.allSatisfy { abs($0.attributes.time.timeIntervalSinceNow) < 60 })
        #expect(sent[0].attributes.isExpired(at: Date().addingTimeInterval(50)) == false)
    }

    @Test("A replay changes the requested attributes")
    func remap() async throws {
        var plan = ReplayPlan()
        plan.remapping = Remapping(
            ["subject:default=test", "platform:ios=tv", "device:d=e", "type:event.A=event.B"].compactMap { text in
                Remapping.Change(text[...])
            })
        let message = try Envelope.recorded("m", "event.A", at: 1) {
            $0.platform = "ios"
            $0.device = "d"
        }
        let sent = try await replayed([message], plan)
        #expect(sent[0].subject == "test" && sent[0].type.description == "event.B")
        #expect(sent[0].attributes.platform == "tv" && sent[0].attributes.device == "e")
        for wrong in ["subject", "subject:a", "song:a=b", "type:event.A=B", "type:a=b"] {
            #expect(Remapping.Change(wrong[...]) == nil)
        }
    }

    /// Runs `body` with a process that publishes the recorded answers when it receives `a`.
    private func answering(
        _ bus: EventBus, _ answers: [Envelope], _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await bus.withSubscription(to: [.all], from: .beginning) { messages in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await message in messages where message.id == "a" {
                        for answer in answers { try await bus.publish(Batch([answer])) }
                    }
                }
                defer { group.cancelAll() }
                try await body()
            }
        }
    }

    private actor Notes {
        var unanswered: [String] = []
        var sent = 0
        var journal: [String] = []

        func record(_ id: String) {
            journal.append(id)
        }

        func record(_ occurrence: Replayer.Occurrence) {
            switch occurrence {
            case .unanswered(let id): unanswered.append(id)
            case .sent(let count): sent = count
            case .next: break
            }
        }
    }

    private func replay(
        _ messages: [Envelope], answers: [Envelope], patience: Duration = .seconds(60)
    ) async throws -> (journal: [String], notes: Notes) {
        let bus = EventBus.inMemory(source: "test/1")
        let notes = Notes()
        try await RecordingFile.with(RecordingFile.text(messages)) { recording in
            let plan = ReplayPlan()
            let survey = try await ReplaySurvey(of: recording, plan)
            try await answering(bus, answers) {
                try await Replayer(
                    bus: bus, recording: recording, plan: plan, survey: survey, pace: .fastest, patience: patience
                )
                .run { await notes.record($0) }
            }
        }
        try await Monitor(bus: bus, start: .beginning, end: .end).run { message in
            await notes.record(message.id)
        }
        return (await notes.journal, notes)
    }

    @Test("A replay waits for the coordinators' messages, so that all are in the recorded order")
    func order() async throws {
        let story = try Self.story()
        let (journal, notes) = try await replay(story, answers: [story[2], story[3]])
        #expect(journal == ["a", "a.ios.0", "a.ios.1", "b", "g", "x.ios.deadline"])
        #expect(await notes.unanswered.isEmpty)
        #expect(await notes.sent == 4)
    }

    @Test("A replay continues without a coordinator that does not answer, and reports it once")
    func unanswered() async throws {
        let (journal, notes) = try await replay(try Self.story(), answers: [], patience: .milliseconds(1))
        #expect(journal == ["a", "b", "g", "x.ios.deadline"])
        #expect(await notes.unanswered == ["a.ios.1"])
    }
}
