import Consuming
import Contracts
import EventBus
import Foundation
import Navigation
import Support
import Synchronization
import TestSupport
import Testing

extension Document {
    fileprivate struct Progress: WorkRecord {
        var instance: String
        var name: String
        var key: String? { instance }

        var unfinished: Command.Greet? { Command.Greet(name: name) }
        static let discardsReplaced = false
    }
}

@Suite("Work of a screen", .timeLimit(.minutes(1)))
struct ScreenWorkTests {
    private let hub = InMemoryHub(maximumGap: 1000)
    private let view: EventBus
    private let log = WorkLog()

    init() {
        view = EventBus.inMemory(source: "device/1", hub: hub)
    }

    /// The work that has begun and the work that has ended.
    private final class WorkLog: Sendable {
        private struct State {
            var begun: [String] = []
            var ended: [String] = []
            var news = Latch()
        }

        private let state = Mutex(State())

        var begun: [String] { state.withLock(\.begun) }
        var ended: [String] { state.withLock(\.ended) }

        func begin(_ name: String) {
            state.withLock { state in
                state.begun.append(name)
                state.news.open()
                state.news = Latch()
            }
        }

        func end(_ name: String) { state.withLock { $0.ended.append(name) } }

        /// Waits until work has begun `count` times.
        func begun(_ count: Int) async throws {
            while true {
                let news = state.withLock { $0.begun.count < count ? $0.news : nil }
                guard let news else { return }
                try await news.waitUntilOpen()
            }
        }
    }

    /// Work that runs until it is cancelled. For the name `nobody` it fails, and for `short` it ends.
    private func work(on bus: EventBus? = nil) -> HandlerService {
        Handlers("worker")
            .work(recordedBy: Document.Progress.self, of: .screen) { command, context in
                Document.Progress(instance: context.cause.attributes.instance ?? "", name: command.name)
            } work: { command, _ in
                if command.name == "nobody" { throw ApplicationError(code: "worker.nobody", message: "Nobody.") }
                log.begin(command.name)
                defer { log.end(command.name) }
                if command.name != "short" { try await Latch().waitUntilOpen() }
                return []
            }
            .service(on: bus ?? EventBus.inMemory(source: "worker/1", hub: hub))
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
            try await view.documents(matching: [.type(Document.Progress.self)])
                .map { try $0.decode(Document.Progress.self).instance }
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

    @Test("Work ends with its screen instance before its documents are withdrawn, and other work continues")
    func dismissed() async throws {
        try await show("a-1", "a-2")
        try await withRunning(work()) {
            try await view.send(Command.Greet(name: "one"), origin: origin("a-1"))
            try await view.send(Command.Greet(name: "two"), origin: origin("a-2"))
            try await documents(Document.Progress.self, are: 2)
            try await log.begun(2)
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

    @Test("Work ends with its session, and that of another session continues")
    func sessionEnded() async throws {
        try await show("a-1")
        try await withRunning(work()) {
            try await view.send(Command.Greet(name: "one"), origin: origin("a-1"))
            try await log.begun(1)
            try await view.publish(DomainEvent.SessionEnded(), subject: "other")
            try await view.publish(DomainEvent.SessionEnded())
            try await documents(Document.Progress.self, are: 0)
            #expect(log.ended == ["one"])
        }
    }

    @Test("Work does not begin if its screen was dismissed before the command, and the command is discarded")
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

    @Test("A restarted service resumes its work, except for screens that were dismissed meanwhile")
    func restarted() async throws {
        try await show("a-1", "a-2")
        try await withRunning(work()) {
            try await view.send(Command.Greet(name: "one"), origin: origin("a-1"))
            try await view.send(Command.Greet(name: "two"), origin: origin("a-2"))
            try await log.begun(2)
        }
        #expect(Set(log.ended) == ["one", "two"])
        try await show("a-2", dismissing: "a-1")
        try await withRunning(work()) {
            try await documents(Document.Progress.self, are: 1)
            try await log.begun(3)
            #expect(try await underWay == ["a-2"])
            try await show(dismissing: "a-2")
            try await documents(Document.Progress.self, are: 0)
            #expect(try await underWay.isEmpty)
        }
        #expect(log.begun.filter { $0 == "one" }.count == 1)
        #expect(log.begun.filter { $0 == "two" }.count == log.ended.filter { $0 == "two" }.count)
    }

    @Test("A repeated command replaces the work that the former one began")
    func replaced() async throws {
        try await show("a-1")
        try await withRunning(work()) {
            try await view.send(Command.Greet(name: "old"), origin: origin("a-1"))
            try await log.begun(1)
            try await view.send(Command.Greet(name: "new"), origin: origin("a-1"))
            _ = try await view.first(Document.Progress.self) { $0.name == "new" }
            #expect(log.ended == ["old"])
            #expect(try await underWay == ["a-1"])
        }
    }

    @Test("Work starts when its document is recorded, and not before")
    func recordedFirst() async throws {
        try await show("a-1")
        let bus = StallingBus(bus: EventBus.inMemory(source: "worker/1", hub: hub))
        try await withRunning(work(on: bus.bus)) {
            bus.stall()
            try await view.send(Command.Greet(name: "one"), origin: origin("a-1"))
            try await bus.stalled.waitUntilOpen()
            #expect(log.begun.isEmpty)
        }
        #expect(log.begun.isEmpty)
        #expect(try await underWay.isEmpty)
        try await withRunning(work()) {
            try await log.begun(1)
            #expect(log.begun == ["one"])
        }
    }

    @Test("Work that has ended is forgotten, and not repeated after a restart")
    func forgotten() async throws {
        try await show("a-1")
        try await withRunning(work()) {
            for count in 1...2 {
                try await view.send(Command.Greet(name: "short"), origin: origin("a-1"))
                try await withdrawals(of: Document.Progress.self, are: count)
            }
        }
        let told = try await view.journalled(Document.Progress.self)
        #expect(told.map(\.isTombstone) == [false, true, false, true])
        try await withRunning(work()) {
            try await view.send(Command.Greet(name: "one"), origin: origin("a-1"))
            try await log.begun(3)
        }
        #expect(log.begun == ["short", "short", "one"])
    }

    @Test("A message that cannot be fully read or looked up ends no work")
    func hostile() async throws {
        try await show("a-1")
        // Documents that record work of no screen, of a screen whose platform no document can name, and nothing.
        for (key, platform) in [("old", nil), ("strange", "e\u{301}")] {
            let document = Document.Progress(instance: key, name: key)
            var envelope = try Envelope(
                document, source: "s", origin: Origin(platform: platform, instance: "a-1"),
                causedBy: Envelope(Command.Greet(name: key), source: "s"))
            envelope.attributes.key = key
            try await view.publish(Batch([envelope]))
        }
        var attributes = Attributes(type: Document.Progress.type, source: "s")
        attributes.key = "half"
        try await view.publish(Batch([Envelope(attributes: attributes, data: Data("{}".utf8))]))
        try await withRunning(self.work()) {
            try await view.send(Command.Greet(name: "one"), origin: origin("a-1", platform: "e\u{301}"))
            var half = try Envelope(Command.Greet(name: "half"), source: "device/1", origin: origin("a-1"))
            half.data = Data(#"{"name":"half","x":1e999}"#.utf8)
            try await view.publish(Batch([half]))
            try await view.send(Command.Greet(name: "two"), origin: origin("a-1"))
            while log.begun.last != "two" { try await log.begun(log.begun.count + 1) }
        }
    }

    @Test("Work that ends or fails is over, and a failure is reported")
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
