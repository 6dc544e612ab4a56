import Consuming
import Contracts
import Coordinator
import EventBus
import Foundation
import Logging
import Navigation
import SegueTestSupport
import Support
import Synchronization
import TestSupport
import Testing

@Suite("Coordinator: guards", .timeLimit(.minutes(1)))
struct CoordinatorGuardTests {
    let fixture = CoordinatorFixture()
    var view: EventBus { fixture.view }

    @discardableResult
    private func withForm<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withRunning(fixture.coordinator(.guarded()), body)
    }

    /// Sends the message that the guard holds back, and waits until the attempt is open.
    @discardableResult
    private func ask() async throws -> Envelope {
        let command = try await view.send(Command.NextRequested(name: "Bach"), origin: fixture.phone)
        try await fixture.snapshot { $0.state.attempt != nil }
        return command
    }

    /// Replaces the documents of the deadlines, as any process on the bus can.
    private func replaceDeadline(by data: String) async throws {
        let deadlines = try await view.documents(matching: [.type(Document.Deadline.self)])
        #expect(deadlines.count == 1)
        for deadline in deadlines {
            var attributes = deadline.attributes
            attributes.id = "stranger-\(deadline.id)"
            try await view.publish(Batch([Envelope(attributes: attributes, data: Data(data.utf8))]))
        }
    }

    /// Sends a command that waits until the attempt is over.
    @discardableResult
    private func queueHome() async throws -> Envelope {
        let command = try await view.send(Command.HomeRequested(), origin: fixture.phone)
        try await fixture.snapshot { $0.state.attempt?.queue.count == 1 }
        return command
    }

    /// Answers the command of a guard. The answer has no platform.
    @discardableResult
    private func answer(_ question: Envelope, later: TimeInterval = 0) async throws -> Envelope {
        var answer = try Envelope(DomainEvent.DraftSaved(draft: 7), source: "draft-service/1", causedBy: question)
        answer.attributes.platform = nil
        answer.attributes.device = nil
        answer.attributes.instance = nil
        answer.attributes.time += later
        try await view.publish(Batch([answer]))
        return answer
    }

    @Test("A guard sends its question for the screen, waits in the snapshot, and continues with the answer")
    func accepted() async throws {
        try await withForm {
            let command = try await ask()
            let question = try await view.received(Command.SaveDraft.self)[0]
            #expect(question.id == command.id + ".ios.ask")
            #expect(question.attributes.causationID == command.id)
            #expect(question.attributes.instance == "form-1")
            #expect(question.attributes.device == "phone-1")
            let expiry = try #require(question.attributes.expiryTime)
            #expect(expiry.timeIntervalSince(question.attributes.time) == 5, "as long as anybody waits for it")
            #expect(try question.decode(Command.SaveDraft.self).name == "Bach")
            #expect(try await fixture.currentSnapshot()?.state.attempt?.id == question.id)

            let answer = try await answer(question)
            let snapshot = try await fixture.snapshot { $0.state.top.screen == "done" }
            #expect(snapshot.state.top.arguments == ["draft": 7])
            #expect(snapshot.state.attempt == nil)
            #expect(snapshot.cause == answer.id)
            let opened = try await view.received(DomainEvent.URLOpenRequested.self)[0]
            #expect(opened.attributes.device == "phone-1", "where the command came from, not the answer")
            #expect(opened.attributes.correlationID == command.attributes.correlationID)
        }
    }

    @Test("A deadline is published when no answer comes in time, as part of the same story")
    func expired() async throws {
        try await withForm {
            let command = try await ask()
            fixture.clock.advance(by: .milliseconds(4999))
            #expect(try await view.journalled(DomainEvent.GuardDeadlinePassed.self).isEmpty)
            fixture.clock.advance(by: .milliseconds(1))
            let snapshot = try await fixture.snapshot { $0.state.top.screen == "sorry" }
            #expect(snapshot.state.attempt == nil)
            let deadline = try await view.received(DomainEvent.GuardDeadlinePassed.self)[0]
            #expect(deadline.id == command.id + ".ios.ask.ios.deadline")
            #expect(try deadline.decode(DomainEvent.GuardDeadlinePassed.self).attempt == command.id + ".ios.ask")
            #expect(deadline.attributes.causationID == command.id + ".ios.ask")
            #expect(deadline.attributes.correlationID == command.attributes.correlationID)
            #expect(deadline.attributes.platform == "ios")
            let discarded = try await view.received(DomainEvent.MessageDiscarded.self)[0]
            #expect(try discarded.decode(DomainEvent.MessageDiscarded.self).messageID == command.id)
            let opened = try await view.received(DomainEvent.URLOpenRequested.self)[0]
            #expect(opened.attributes.device == "phone-1")
        }
    }

    @Test("A deadline is published although another client has replaced its document by an unreadable one")
    func unreadableDeadline() async throws {
        try await withForm {
            try await ask()
            try await replaceDeadline(by: "{}")
            fixture.clock.advance(by: .seconds(5))
            try await fixture.snapshot { $0.state.top.screen == "sorry" }
        }
    }

    @Test("A deadline is published although another client has replaced its document by another attempt's")
    func exchangedDeadline() async throws {
        try await withForm {
            try await ask()
            try await replaceDeadline(by: #"{"platform":"ios","object":"attempt","id":"other","delay":5000}"#)
            fixture.clock.advance(by: .seconds(5))
            try await fixture.snapshot { $0.state.top.screen == "sorry" }
        }
    }

    @Test("A deadline of a quiet session is published after a restart, even if its document is unreadable")
    func unreadableDeadlineAfterRestart() async throws {
        try await withForm {
            try await view.publish(DomainEvent.LaunchFinished(), subject: "two")
            try await view.send(Command.NextRequested(name: "Bach"), subject: "two", origin: fixture.phone)
            try await fixture.snapshot(session: "two") { $0.state.attempt != nil }
        }
        try await replaceDeadline(by: "{}")
        try await withForm {
            try await fixture.clock.sleepers()
            fixture.clock.advance(by: .seconds(5))
            try await fixture.snapshot(session: "two") { $0.state.top.screen == "sorry" }
        }
    }

    @Test("No deadline is published for an attempt that was answered in time")
    func inTime() async throws {
        try await withForm {
            try await ask()
            try await answer(try await view.received(Command.SaveDraft.self)[0])
            try await fixture.snapshot { $0.state.top.screen == "done" }
            // Both timers end at the same time. Only the second attempt is still open.
            try await ask()
            fixture.clock.advance(by: .seconds(5))
            try await fixture.snapshot { $0.state.top.screen == "sorry" }
        }
        #expect(try await view.journalled(DomainEvent.GuardDeadlinePassed.self).count == 1)
    }

    @Test("An attempt continues after a restart with the answer that came meanwhile")
    func answeredWhileAway() async throws {
        try await withForm {
            try await ask()
            try await queueHome()
        }
        try await answer(try await view.received(Command.SaveDraft.self)[0])
        try await withForm {
            // The queued command is applied after the answer: it pops the pushed screen. An earlier process received
            // the command.
            let snapshot = try await fixture.snapshot { $0.state.leaving.map(\.screen) == ["done"] }
            #expect(snapshot.state.attempt == nil)
            #expect(snapshot.state.path.isEmpty)
        }
    }

    @Test("Each state of an answer and its queue is published, before their other effects")
    func queueShown() async throws {
        try await withForm {
            try await ask()
            let home = try await queueHome()
            let answer = try await answer(try await view.received(Command.SaveDraft.self)[0])
            let last = try await fixture.snapshot { $0.revision == 4 }
            #expect(last.cause == home.id)
            let results = try await story(of: fixture).filter { $0.attributes.causationID == answer.id }
            let types = results.map(\.type.name)
            #expect(
                types == [
                    "NavigationState", "URLOpenRequested", "NavigationState", "ScreenDismissed",
                    // The first deadline is for the screen that leaves, the second for the attempt that is over.
                    "Deadline", "Deadline",
                ])
            let first = try results[0].decode(Document.NavigationState.self).snapshot
            #expect(first.revision == 3 && first.cause == answer.id)
            #expect(first.state.path.map(\.screen) == ["done"])
            #expect(Set(results.map(\.id)).count == 6)
        }
    }

    @Test("A queued command that has expired is discarded with a report")
    func expiredInQueue() async throws {
        try await withForm {
            try await ask()
            let home = try await queueHome()
            try await answer(try await view.received(Command.SaveDraft.self)[0], later: 61)
            try await fixture.snapshot { $0.state.top.screen == "done" }
            let discarded = try await view.received(DomainEvent.MessageDiscarded.self)[0]
            #expect(try discarded.decode(DomainEvent.MessageDiscarded.self).messageID == home.id)
        }
    }

    @Test("The timer of a deadline is set again after each restart")
    func expiredAfterRestart() async throws {
        let command = try await withForm { try await ask() }
        try await withForm { try await fixture.clock.sleepers() }
        try await withForm {
            try await fixture.clock.sleepers()
            fixture.clock.advance(by: .seconds(5))
            try await fixture.snapshot { $0.state.top.screen == "sorry" }
        }
        let deadlines = try await view.journalled(DomainEvent.GuardDeadlinePassed.self)
        #expect(deadlines.map(\.id) == [command.id + ".ios.ask.ios.deadline"])
    }

    @Test("Each of two screens that wait has a deadline of its own")
    func twoDeadlines() async throws {
        let flow = try Flow("form", version: 1, platform: "ios", start: "form") {
            for name in ["form", "sheet", "sorry"] { Flow.Screen(name) }
            Flow.Transition(on: "event.Warned", do: [.present("sheet", as: .sheet)])
            Flow.Transition(
                on: "command.NextRequested", when: [.sender("form")],
                guard: Flow.Guard(accept: "event.DraftSaved", deadline: .seconds(5)), do: [.push("sorry")])
            Flow.Transition(
                on: "command.NextRequested", when: [.sender("sheet")],
                guard: Flow.Guard(
                    accept: "event.DraftSaved", deadline: .seconds(2), expired: [.present("sorry", as: .sheet)]),
                do: [.push("sorry")])
        }
        let commands = try await withRunning(fixture.coordinator(flow)) {
            var commands: [Envelope] = []
            for (count, screen) in [(1, "form"), (2, "sheet")] {
                if screen == "sheet" { try await view.publish(DomainEvent.Warned()) }
                var origin = fixture.phone
                origin.instance = try await fixture.snapshot { $0.state.top.screen == screen }.state.top.id
                commands.append(try await view.send(Command.NextRequested(name: screen), origin: origin))
                try await fixture.snapshot { $0.state.attempts.count == count }
            }
            return commands
        }
        try await withRunning(fixture.coordinator(flow)) {
            #expect(try await view.documents(matching: [.type(Document.Deadline.self)]).count == 2)
            try await fixture.clock.sleepers()
            fixture.clock.advance(by: .seconds(2))
            let snapshot = try await fixture.snapshot { $0.state.top.screen == "sorry" }
            #expect(snapshot.state.attempts.map(\.id) == [commands[0].id])
            #expect(try await view.documents(matching: [.type(Document.Deadline.self)]).count == 1)
            fixture.clock.advance(by: .seconds(3))
            try await fixture.snapshot { $0.state.attempts.isEmpty }
            let passed = try await view.journalled(DomainEvent.GuardDeadlinePassed.self)
            #expect(
                try passed.map { try $0.decode(DomainEvent.GuardDeadlinePassed.self).attempt }
                    == commands.reversed().map(\.id))
        }
    }

    @Test("An attempt whose rule a changed flow lacks is dropped with a report")
    func changedFlow() async throws {
        let command = try await withForm { try await ask() }
        try await withRunning(fixture.coordinator(.guarded(asking: false))) {
            try await fixture.snapshot { $0.state.attempt == nil }
            let discarded = try await view.received(DomainEvent.MessageDiscarded.self)[0]
            #expect(try discarded.decode(DomainEvent.MessageDiscarded.self).messageID == command.id)
        }
    }

    @Test("A restarted coordinator gives the same ids to the messages that it had not published")
    func sameIDsAfterDeath() async throws {
        let bus = LosingBus(
            EventBus.inMemory(source: "navigation-coordinator/1", hub: fixture.hub), losing: Command.SaveDraft.type)
        try await view.send(Command.NextRequested(name: "Bach"), origin: fixture.phone)
        await #expect(throws: BusError.self) {
            try await withRunning(
                Coordinator(flow: .guarded(), bus: bus.bus, logger: .silent, clock: ServiceClock(clock: fixture.clock))
            ) {
                try await fixture.snapshot { $0.state.attempt != nil }
            }
        }
        #expect(bus.lost.map(\.type.name) == ["NavigationState", "SaveDraft", "Deadline"])
        try await withForm { try await fixture.snapshot { $0.state.attempt != nil } }
        let published = try await story(of: fixture).filter { $0.attributes.causationID != nil }
        #expect(published.map(\.id) == bus.lost.map(\.id))
    }

    @Test("A replay of the same messages gives the same ids to all results")
    func sameIDs() async throws {
        try await withForm {
            try await ask()
            try await answer(try await view.received(Command.SaveDraft.self)[0])
            try await fixture.snapshot { $0.state.top.screen == "done" }
            try await view.send(Command.HomeRequested(), origin: fixture.phone)
            try await fixture.snapshot { $0.state.path.isEmpty }
        }
        let told = try await story(of: fixture)
        let inputs = told.filter { !$0.attributes.source.hasPrefix("navigation-coordinator") }
        let replay = CoordinatorFixture()
        try await replay.view.publish(Batch(inputs))
        try await withRunning(replay.coordinator(.guarded())) {
            try await replay.snapshot { $0.revision == 3 }
        }
        let retold = try await story(of: replay)
        #expect(results(told) == results(retold))
        #expect(results(told).count > 5)
        #expect(Set(told.map(\.id)).count == told.count)
    }

    @Test("A flow with guards declares its answers, deadlines and questions")
    func vocabulary() throws {
        let flow = try Flow.guarded()
        #expect(flow.receives.contains(DomainEvent.DraftSaved.type))
        #expect(flow.receives.contains(DomainEvent.GuardDeadlinePassed.type))
        #expect(flow.sends.contains(Command.SaveDraft.type))
        #expect(flow.sends.contains(DomainEvent.GuardDeadlinePassed.type))
        #expect(try !Flow.shop().sends.contains(DomainEvent.GuardDeadlinePassed.type))
    }

    /// All messages in the journal except the first snapshot, which has no cause.
    private func story(of fixture: CoordinatorFixture) async throws -> [Envelope] {
        let end = try await fixture.view.inspect.end().offset
        return try await fixture.view.withSubscription(to: [.all], from: .beginning) { messages in
            var story: [Envelope] = []
            for try await message in messages {
                if message.attributes.causationID != nil || message.type.kind != .document { story.append(message) }
                if message.position?.offset == end { break }
            }
            return story
        }
    }

    private func results(_ story: [Envelope]) -> [String] {
        story.filter { $0.attributes.source.hasPrefix("navigation-coordinator") }.map { "\($0.type) \($0.id)" }
    }
}

extension Command {
    struct NextRequested: CommandMessage {
        var name: String
    }

    struct SaveDraft: CommandMessage {
        var name: String
    }

    struct HomeRequested: CommandMessage {}
}

extension DomainEvent {
    struct DraftSaved: EventMessage {
        var draft: Int
    }
}

extension Flow {
    /// A flow with a form whose `next` waits until a service has saved the draft.
    static func guarded(asking: Bool = true) throws -> Flow {
        try Flow("form", version: 1, platform: "ios", start: "form") {
            for screen in ["form", "done", "sorry"] { Flow.Screen(screen) }
            if asking {
                Flow.Transition(
                    on: "command.NextRequested",
                    guard: Flow.Guard(
                        ask: Flow.Guard.Ask("command.SaveDraft", data: ["name": "${data.name}"]),
                        accept: "event.DraftSaved", deadline: .seconds(5), meanwhile: .queue,
                        expired: [.present("sorry", as: .sheet), .openURL("https://example.org/help")]),
                    do: [
                        .push(.screen("done", ["draft": "${answer.draft}"])),
                        .openURL("https://example.org/${data.name}"),
                    ])
            }
            Flow.Transition(on: "command.HomeRequested", do: [.popToRoot])
        }
    }
}

/// A bus that fails as if the process were killed when it publishes a batch with a message of a given type. Nothing of
/// that batch is journalled.
final class LosingBus: ForwardingEngine {
    let inner: EventBus
    private let type: MessageType
    private let messages = Mutex<[Envelope]>([])

    init(_ bus: EventBus, losing type: MessageType) {
        inner = bus
        self.type = type
    }

    var lost: [Envelope] { messages.withLock(\.self) }

    func publish(_ batch: Batch) async throws -> Position {
        guard batch.messages.contains(where: { $0.type == type }) else { return try await inner.publish(batch) }
        messages.withLock { $0 = batch.messages }
        throw BusError(.closed, "the process is dead")
    }
}
