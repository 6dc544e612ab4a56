import Consuming
import Contracts
import EventBus
import Foundation
import Navigation
import RuntimeTestSupport
import Support
import Synchronization
import TestSupport
import Testing

extension Document {
    fileprivate struct Progress: DocumentMessage {
        var instance: String
        var key: String? { instance }
    }
}

@Suite("Work that belongs to a screen", .timeLimit(.minutes(1)))
struct ScreenWorkTests {
    private let hub = InMemoryHub(maximumGap: 1000)
    private let view: EventBus
    private let log = WorkLog()

    init() {
        view = EventBus.inMemory(source: "device/1", hub: hub)
    }

    /// The work that has begun and the work that has ended.
    private final class WorkLog: Sendable {
        private let names = Mutex<(begun: [String], ended: [String])>(([], []))

        var begun: [String] { names.withLock(\.begun) }
        var ended: [String] { names.withLock(\.ended) }

        func begin(_ name: String) { names.withLock { $0.begun.append(name) } }
        func end(_ name: String) { names.withLock { $0.ended.append(name) } }
    }

    /// Work that publishes a document when it begins, and runs until it is cancelled. For the name `nobody` it fails,
    /// and for `short` it ends, both without a document.
    private func work(on bus: EventBus? = nil) -> ScreenWork {
        ScreenWork("worker", bus: bus ?? EventBus.inMemory(source: "worker/1", hub: hub), logger: .silent)
            .on(Command.Greet.self, withdrawing: [Document.Progress.type]) { command, context in
                if command.name == "nobody" { throw ApplicationError(code: "worker.nobody", message: "Nobody.") }
                log.begin(command.name)
                defer { log.end(command.name) }
                if command.name == "short" { return }
                try await context.publish(Document.Progress(instance: context.cause.attributes.instance ?? ""))
                try await Gate().pass()
            }
    }

    private func origin(_ instance: String, platform: String = "ios") -> Origin {
        Origin(platform: platform, device: "phone", instance: instance)
    }

    /// Publishes a navigation state and, if `gone` is given, a dismissal in the same batch, as a coordinator does.
    private func show(_ instances: String..., dismissing gone: String? = nil, platform: String = "ios") async throws {
        let flow = try Flow("a", version: 1, platform: platform, start: "root") { Flow.Screen("root") }
        var snapshot = Machine(flow: flow).snapshot
        snapshot.state.path = instances.map { ScreenInstance(screen: "a", id: $0) }
        var batch = [try Envelope(Document.NavigationState(snapshot), source: "coordinator/1")]
        if let gone {
            batch.append(
                try Envelope(
                    DomainEvent.ScreenDismissed(instance: gone, screen: "a"), source: "coordinator/1",
                    origin: origin(gone, platform: platform)))
        }
        try await view.publish(Batch(batch))
    }

    /// The instances that have a document of running work.
    private var underWay: [String?] {
        get async throws {
            try await view.documents(matching: [.type(Document.ScreenWork.self)])
                .map { try $0.decode(Document.ScreenWork.self).attributes.instance }
        }
    }

    /// Waits until there are `count` documents of a type.
    private func documents<D: DocumentMessage>(_ type: D.Type, are count: Int) async throws {
        try await view.withSubscription(to: [.type(type)], from: .beginning) { messages in
            if try await view.documents(matching: [.type(type)]).count == count { return }
            for try await _ in messages {
                if try await view.documents(matching: [.type(type)]).count == count { return }
            }
        }
    }

    /// Waits until `count` documents of a type have been withdrawn.
    private func withdrawals<D: DocumentMessage>(of type: D.Type, are count: Int) async throws {
        try await view.withSubscription(to: [.type(type)], from: .beginning) { messages in
            var withdrawn = 0
            for try await message in messages where message.isTombstone {
                withdrawn += 1
                if withdrawn == count { return }
            }
        }
    }

    @Test("it ends with its instance, and has ended before its documents go; its sibling's goes on")
    func dismissed() async throws {
        try await show("a-1", "a-2")
        try await withRunning(work()) {
            try await view.send(Command.Greet(name: "one"), origin: origin("a-1"))
            try await view.send(Command.Greet(name: "two"), origin: origin("a-2"))
            try await documents(Document.Progress.self, are: 2)
            try await documents(Document.ScreenWork.self, are: 2)
            try await show("a-2", dismissing: "a-1")
            try await documents(Document.Progress.self, are: 1)
            #expect(log.ended == ["one"])
            #expect(try await underWay == ["a-2"])
            // An instance of another platform with the same identifier is dismissed.
            try await show("b-1", dismissing: "a-2", platform: "mac")
            let late = try await view.send(Command.Greet(name: "late"), origin: origin("a-1"))
            _ = try await view.first(DomainEvent.MessageDiscarded.self) { $0.messageID == late.id }
            #expect(log.ended == ["one"])
            #expect(try await underWay == ["a-2"])
        }
        #expect(log.begun == ["one", "two"])
    }

    @Test("it ends with its session, and another session's goes on")
    func sessionEnded() async throws {
        try await show("a-1")
        try await withRunning(work()) {
            try await view.send(Command.Greet(name: "one"), origin: origin("a-1"))
            try await documents(Document.ScreenWork.self, are: 1)
            try await view.publish(DomainEvent.SessionEnded(), subject: "other")
            try await view.publish(DomainEvent.SessionEnded())
            try await documents(Document.ScreenWork.self, are: 0)
            try await documents(Document.Progress.self, are: 0)
            #expect(log.ended == ["one"])
        }
    }

    @Test("a dismissal that came before the command is known: nothing begins, visibly")
    func dismissedBefore() async throws {
        try await show(dismissing: "a-1")
        let late = try await view.send(Command.Greet(name: "late"), origin: origin("a-1"))
        let nowhere = try await view.send(Command.Greet(name: "nowhere"))
        try await withRunning(work()) {
            let discarded = try await view.received(DomainEvent.MessageDiscarded.self, 2)
            let messages = try discarded.map { try $0.decode(DomainEvent.MessageDiscarded.self) }
            #expect(messages.map(\.messageID) == [late.id, nowhere.id])
            #expect(
                messages.map(\.reason)[0] == "there is no screen instance 'a-1'; it may have been dismissed")
        }
        #expect(log.begun.isEmpty)
        #expect(try await underWay.isEmpty)
    }

    @Test("a restarted service takes up what was under way, but for what was dismissed meanwhile")
    func restarted() async throws {
        try await show("a-1", "a-2")
        try await withRunning(work()) {
            try await view.send(Command.Greet(name: "one"), origin: origin("a-1"))
            try await view.send(Command.Greet(name: "two"), origin: origin("a-2"))
            try await documents(Document.ScreenWork.self, are: 2)
            try await documents(Document.Progress.self, are: 2)
        }
        #expect(Set(log.ended) == ["one", "two"])
        try await show("a-2", dismissing: "a-1")
        try await withRunning(work()) {
            try await documents(Document.Progress.self, are: 1)
            #expect(try await underWay == ["a-2"])
            try await show(dismissing: "a-2")
            try await documents(Document.Progress.self, are: 0)
            #expect(try await underWay.isEmpty)
        }
        #expect(log.begun.filter { $0 == "one" }.count == 1)
        #expect(log.begun.filter { $0 == "two" }.count == log.ended.filter { $0 == "two" }.count)
    }

    @Test("the same command again takes the place of what it began before")
    func replaced() async throws {
        try await show("a-1")
        try await withRunning(work()) {
            try await view.send(Command.Greet(name: "old"), origin: origin("a-1"))
            try await documents(Document.ScreenWork.self, are: 1)
            let new = try await view.send(Command.Greet(name: "new"), origin: origin("a-1"))
            _ = try await view.first(Document.ScreenWork.self) { $0.attributes.id == new.id }
            #expect(log.ended == ["old"])
            #expect(try await underWay == ["a-1"])
        }
    }

    @Test("it starts once its document is recorded, not before")
    func recordedFirst() async throws {
        try await show("a-1")
        let bus = StallingBus(bus: EventBus.inMemory(source: "worker/1", hub: hub))
        try await withRunning(work(on: bus.bus)) {
            bus.stall()
            try await view.send(Command.Greet(name: "one"), origin: origin("a-1"))
            try await bus.stalled.pass()
            #expect(log.begun.isEmpty)
        }
        #expect(log.begun.isEmpty)
        #expect(try await underWay.isEmpty)
        try await withRunning(work()) {
            try await documents(Document.Progress.self, are: 1)
            #expect(log.begun == ["one"])
        }
    }

    @Test("work that has ended is forgotten: nothing ends it again, and a restart does not repeat it")
    func forgotten() async throws {
        try await show("a-1")
        try await withRunning(work()) {
            for count in 1...2 {
                try await view.send(Command.Greet(name: "short"), origin: origin("a-1"))
                try await withdrawals(of: Document.ScreenWork.self, are: count)
            }
        }
        let told = try await view.journalled(Document.ScreenWork.self)
        #expect(told.map(\.isTombstone) == [false, true, false, true])
        try await withRunning(work()) {
            try await view.send(Command.Greet(name: "one"), origin: origin("a-1"))
            try await documents(Document.Progress.self, are: 1)
        }
        #expect(log.begun == ["short", "short", "one"])
    }

    @Test("a message of which nothing can be looked up, or that only half can be read, ends nothing")
    func hostile() async throws {
        try await show("a-1")
        let work = Document.ScreenWork(
            consumer: "worker",
            attributes: Attributes(
                type: Command.Greet.type, source: "s", id: String(repeating: "i", count: 250)), data: .object([:]))
        var attributes = Attributes(type: Document.ScreenWork.type, source: "s")
        attributes.key = "worker.old"
        var hostile = work
        hostile.attributes.platform = "e\u{301}"
        hostile.attributes.instance = "a-1"
        try await view.publish(
            Batch([Envelope(attributes: attributes, data: try JSONEncoder().encode(hostile))]))
        try await withRunning(self.work()) {
            try await view.send(Command.Greet(name: "one"), origin: origin("a-1", platform: "e\u{301}"))
            var half = try Envelope(Command.Greet(name: "half"), source: "device/1", origin: origin("a-1"))
            half.data = Data(#"{"name":"half","x":1e999}"#.utf8)
            try await view.publish(Batch([half]))
            try await view.send(Command.Greet(name: "two"), origin: origin("a-1"))
            try await documents(Document.Progress.self, are: 1)
            #expect(log.begun.last == "two")
        }
    }

    @Test("work that ends or fails is over, and a failure is told")
    func ended() async throws {
        try await show("a-1", "a-2")
        try await withRunning(work()) {
            let failing = try await view.send(Command.Greet(name: "nobody"), origin: origin("a-1"))
            try await view.send(Command.Greet(name: "short"), origin: origin("a-2"))
            let error = try await view.received(ApplicationError.self)[0]
            #expect(error.attributes.causationID == failing.id)
            #expect(try error.decode(ApplicationError.self).code == "worker.nobody")
        }
    }
}
