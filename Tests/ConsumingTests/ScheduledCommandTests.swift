import Consuming
import Contracts
import EventBus
import Foundation
import SegueTestSupport
import Support
import TestSupport
import Testing

@Suite("Scheduled commands", .timeLimit(.minutes(1)))
struct ScheduledCommandTests {
    private let hub = InMemoryHub(maximumGap: 1000)
    private let view: EventBus
    private let clock = ManualClock()
    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    init() {
        view = EventBus.inMemory(source: "device/1", hub: hub)
    }

    /// A service that schedules a wave for each greeting: after the number of seconds that is the greeting's name. The
    /// names `forget` and `many` take the wave back, and schedule more than are allowed. A wave is answered.
    private func service(_ instance: Int = 1, before: @escaping @Sendable (String) async throws -> Void = { _ in })
        -> HandlerService
    {
        Handlers("waver", retries: RetryPolicy(attempts: 1, firstDelay: .zero, factor: 1))
            .on(Command.Greet.self, sends: Command.Wave.self, DomainEvent.Greeted.self) { command, context in
                try await before(command.name)
                let done = DomainEvent.Greeted(name: command.name)
                switch command.name {
                case "forget": return [.withdrawn(Command.Wave.self), done]
                case "many":
                    return (0..<16).map { .later(Command.Wave(), after: .seconds(1), id: "\(context.cause.id)-\($0)") }
                case "too many": return (0..<17).map { .later(Command.Wave(), after: .seconds(1), id: "\($0)") }
                default: return [.later(Command.Wave(), at: context.time + .seconds(Int(command.name) ?? 0)), done]
                }
            }
            .on(Command.Wave.self, sends: DomainEvent.Greeted.self) { _, _ in [DomainEvent.Greeted(name: "waved")] }
            .service(
                on: EventBus.inMemory(source: "waver/\(instance)", hub: hub), clock: clock,
                now: { [clock, start] in start + clock.now.offset })
    }

    private func schedule(_ name: String, in session: String = Session.default) async throws {
        let command = try await view.send(Command.Greet(name: name), subject: session)
        try await view.withSubscription(to: [.type(DomainEvent.Greeted.self)], from: .beginning) { messages in
            for try await message in messages where message.attributes.causationID == command.id { return }
        }
    }

    private func scheduled() async throws -> [Document.ScheduledCommand] {
        try await view.documents(matching: [.type(Document.ScheduledCommand.self)]).map { try $0.decode() }
    }

    @Test("A scheduled command is sent once at its time, in one batch with the withdrawal of its document")
    func fires() async throws {
        try await withRunning(service()) {
            try await schedule("30")
            let document = try #require(try await scheduled().first)
            #expect(document.at == start + .seconds(30) && document.consumer == "waver" && document.id == "Wave")
            #expect(document.command.type == Command.Wave.type)
            try await clock.sleepers()
            clock.advance(by: .seconds(29))
            #expect(try await view.journalled(Command.Wave.self).isEmpty)
            clock.advance(by: .seconds(1))
            _ = try await view.first(DomainEvent.Greeted.self) { $0.name == "waved" }
        }
        let waves = try await view.journalled(Command.Wave.self)
        let documents = try await view.journalled(Document.ScheduledCommand.self)
        #expect(waves.count == 1 && documents.map(\.isTombstone) == [false, true])
        #expect(documents[1].position?.offset == waves[0].position.map { $0.offset + 1 })
        #expect(waves[0].attributes.causationID == documents[0].id)
        #expect(waves[0].attributes.time == start + .seconds(30))
        #expect(try await scheduled().isEmpty)
    }

    @Test("A scheduled command is replaced by one with the same id, and can be cancelled")
    func replaced() async throws {
        try await withRunning(service()) {
            try await schedule("30")
            try await schedule("60")
            #expect(try await scheduled().map(\.at) == [start + .seconds(60)])
            try await schedule("10", in: "anna")
            try await schedule("forget")
            #expect(try await scheduled().count == 1)
            clock.advance(by: .seconds(100))
            _ = try await view.first(DomainEvent.Greeted.self) { $0.name == "waved" }
        }
        #expect(try await view.journalled(Command.Wave.self).map(\.subject) == ["anna"])
    }

    @Test("The next process sends a scheduled command, at once if its time has passed")
    func restarted() async throws {
        try await withRunning(service()) { try await schedule("30") }
        clock.advance(by: .seconds(1000))
        try await withRunning(service(2)) { _ = try await view.first(DomainEvent.Greeted.self) { $0.name == "waved" } }
        let waves = try await view.journalled(Command.Wave.self)
        #expect(waves.map(\.attributes.source) == ["waver/2"])
        #expect(waves[0].attributes.time == start + .seconds(1000))
    }

    @Test("A scheduled command waits for a handler that may cancel it, even a slow one")
    func ordered() async throws {
        let (started, finish) = (Latch(), Latch())
        let service = service { name in
            guard name == "forget" else { return }
            started.open()
            try await finish.waitUntilOpen()
        }
        try await withRunning(service) {
            try await schedule("30")
            try await view.send(Command.Greet(name: "forget"))
            try await started.waitUntilOpen()
            clock.advance(by: .seconds(60))
            // The timer is due, and waits for the handler of its partition; that of another session fires.
            try await schedule("0", in: "bert")
            _ = try await view.first(DomainEvent.Greeted.self) { $0.name == "waved" }
            finish.open()
            _ = try await view.first(DomainEvent.Greeted.self) { $0.name == "forget" }
            try await schedule("0")
        }
        #expect(try await view.journalled(Command.Wave.self).allSatisfy { $0.attributes.time == start + .seconds(60) })
        #expect(try await view.journalled(Command.Wave.self).filter { $0.subject == Session.default }.count <= 1)
    }

    @Test("A process that has lost the partition does not send a scheduled command")
    func fenced() async throws {
        try await withRunning(service()) {
            try await schedule("30")
            // The service claims again, after this claim has ended.
            _ = try await view.engine.claim(consumer: "waver", as: .exclusive)
            clock.advance(by: .seconds(30))
            _ = try await view.first(DomainEvent.Greeted.self) { $0.name == "waved" }
        }
        #expect(try await view.journalled(Command.Wave.self).count == 1)
    }

    @Test("A scheduled command ends with its session")
    func sessionEnded() async throws {
        try await withRunning(service()) {
            for session in ["anna", "bert"] { try await schedule("30", in: session) }
            try await view.endSession("anna")
            while try await scheduled().count > 1 { await Task.yield() }
            clock.advance(by: .seconds(30))
            _ = try await view.first(DomainEvent.Greeted.self) { $0.name == "waved" }
        }
        #expect(try await view.journalled(Command.Wave.self).map(\.subject) == ["bert"])
    }

    @Test("A message that schedules more than 16 commands, or more than 64 in a session, is given up")
    func limits() async throws {
        try await withRunning(service()) {
            try await view.send(Command.Greet(name: "too many"))
            for _ in 0..<5 { try await view.send(Command.Greet(name: "many")) }
            try await schedule("forget")
            #expect(try await scheduled().count == 64)
            let deadLetters = try await view.inspect.deadLetters(of: "waver")
            #expect(
                deadLetters.map(\.rejection.reason) == [
                    "waver schedules more than 16 commands at once; see its log",
                    "waver schedules more than 64 commands in the session; see its log",
                ])
        }
    }

    @Test("Work beside the handlers cannot schedule commands")
    func work() async throws {
        let service = Handlers("painter")
            .work(recordedBy: Picture.self, sends: Command.Wave.self) { _, _ in
                Picture()
            } work: { _, _ in
                [.later(Command.Wave(), after: .zero)]
            }
            .service(on: EventBus.inMemory(source: "painter/1", hub: hub))
        try await withRunning(service) {
            try await view.send(Command.Greet(name: "anna"))
            let error = try await view.received(ApplicationError.self)[0].decode(ApplicationError.self)
            #expect(error.code == "painter.invalid")
            #expect(try await view.document(Picture.self) == nil)
        }
        #expect(try await scheduled().isEmpty)
    }

    private struct Picture: WorkRecord {
        var unfinished: Command.Greet? { Command.Greet(name: "") }
    }

    @Test("A scheduled command of another consumer is ignored, and one that is not a command is removed")
    func foreign() async throws {
        let content = Document.ScheduledCommand.Content(type: DomainEvent.Greeted.type, data: ["name": "no command"])
        try await view.publish(Document.ScheduledCommand(at: start, command: content, consumer: "other", id: "a"))
        try await view.publish(Document.ScheduledCommand(at: start, command: content, consumer: "waver", id: "b"))
        try await withRunning(service()) {
            // What is not a command is removed.
            while try await scheduled().contains(where: { $0.consumer == "waver" }) { await Task.yield() }
            try await schedule("0")
            _ = try await view.first(DomainEvent.Greeted.self) { $0.name == "waved" }
        }
        #expect(try await scheduled().map(\.consumer) == ["other"])
        #expect(try await view.journalled(DomainEvent.Greeted.self).allSatisfy { $0.attributes.source == "waver/1" })
    }
}
