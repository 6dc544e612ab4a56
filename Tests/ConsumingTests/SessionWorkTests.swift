import Consuming
import Contracts
import EventBus
import Support
import TestSupport
import Testing

@Suite("Work of a session", .timeLimit(.minutes(1)))
struct SessionWorkTests {
    private struct Portrait: WorkRecord {
        var name: String
        var isFinished: Bool

        var unfinished: Command.Greet? { isFinished ? nil : Command.Greet(name: name) }
        var ended: Portrait? { Portrait(name: "no \(name)", isFinished: true) }
    }

    let hub = InMemoryHub(maximumGap: 1000)
    let watcher: EventBus
    let begun = Calls<String>()

    init() {
        watcher = EventBus.inMemory(source: "watcher/1", hub: hub)
    }

    /// A consumer that paints a portrait beside the loop, and waves back in the loop. A portrait of nobody needs no
    /// work.
    private func painter(
        _ instance: Int, on bus: EventBus? = nil, retries: RetryPolicy = .standard,
        paint: @escaping @Sendable (String) async throws -> Void = { _ in },
        prepare: @escaping @Sendable (String) -> Void = { _ in }
    ) -> HandlerService {
        handlers(retries: retries, paint: paint, prepare: prepare)
            .service(on: bus ?? EventBus.inMemory(source: "painter/\(instance)", hub: hub))
    }

    @Test("What work sends is sent by the handler of the message that begins it")
    func declared() {
        let sent = handlers { _ in }.sendsByHandler[Command.Greet.type] ?? []
        #expect(Set(sent) == [DomainEvent.Greeted.type, Portrait.type])
    }

    private func handlers(
        retries: RetryPolicy = .standard, paint: @escaping @Sendable (String) async throws -> Void,
        prepare: @escaping @Sendable (String) -> Void = { _ in }
    ) -> Handlers {
        Handlers("painter", retries: retries)
            .work(recordedBy: Portrait.self, sends: DomainEvent.Greeted.self) { command, _ in
                prepare(command.name)
                return Portrait(name: command.name, isFinished: command.name == "nobody")
            } work: { [begun] command, context in
                begun.add(context.cause.id)
                try await paint(command.name)
                return [Portrait(name: command.name, isFinished: true), DomainEvent.Greeted(name: command.name)]
            }
            .on(Command.Wave.self, sends: DomainEvent.Greeted.self) { _, _ in [DomainEvent.Greeted(name: "waved")] }
    }

    private func greeted() async throws -> [String] {
        try await watcher.journalled(DomainEvent.Greeted.self).map { try $0.decode(DomainEvent.Greeted.self).name }
    }

    @Test("Work does not delay later messages of the session, and its results replace the document")
    func beside() async throws {
        let finish = Latch()
        try await withRunning(painter(1) { _ in try await finish.waitUntilOpen() }) {
            let cause = try await watcher.send(Command.Greet(name: "anna"))
            try await watcher.send(Command.Wave())
            _ = try await watcher.first(DomainEvent.Greeted.self) { $0.name == "waved" }
            #expect(try await watcher.document(Portrait.self)?.isFinished == false)
            finish.open()
            let greeted = try await watcher.first(DomainEvent.Greeted.self) { $0.name == "anna" }
            #expect(greeted?.attributes.causationID == cause.id)
            #expect(try await watcher.document(Portrait.self)?.isFinished == true)
        }
        #expect(begun.all.count == 1)
    }

    @Test("A later message of the same type ends the work, and the earlier message is discarded")
    func replaced() async throws {
        let ended = Latch()
        let consumer = painter(1) { name in
            guard name == "anna" || name == "carl" else { return }
            // Only the cancellation of the task ends this.
            await Latch().waitUntilOpenOrCancelled()
            if name == "anna" { ended.open() }
            try Task.checkCancellation()
        }
        try await withRunning(consumer) {
            let first = try await watcher.send(Command.Greet(name: "anna"))
            try await watcher.send(Command.Greet(name: "carl"), subject: "another")
            _ = try await watcher.received(Portrait.self, 2)
            try await watcher.send(Command.Greet(name: "bert"))
            _ = try await watcher.first(DomainEvent.Greeted.self) { $0.name == "bert" }
            try await ended.waitUntilOpen()
            let discarded = try await watcher.received(DomainEvent.MessageDiscarded.self)[0]
            #expect(try discarded.decode(DomainEvent.MessageDiscarded.self).messageID == first.id)
            #expect(try await watcher.document(Portrait.self)?.name == "bert")
            #expect(try await watcher.document(Portrait.self, subject: "another")?.isFinished == false)
        }
        #expect(try await greeted() == ["bert"])
        #expect(try await watcher.journalled(DomainEvent.MessageDiscarded.self).count == 1)
    }

    @Test("A later message without work ends the work before that message is handled")
    func cleared() async throws {
        let steps = Calls<String>()
        let consumer = painter(1) { _ in
            // Only the cancellation of the task ends this.
            await Latch().waitUntilOpenOrCancelled()
            steps.add("ended")
            try Task.checkCancellation()
        } prepare: {
            steps.add("prepare \($0)")
        }
        try await withRunning(consumer) {
            let first = try await watcher.send(Command.Greet(name: "anna"))
            _ = try await watcher.received(Portrait.self)
            try await watcher.send(Command.Greet(name: "nobody"))
            let discarded = try await watcher.received(DomainEvent.MessageDiscarded.self)[0]
            #expect(try discarded.decode(DomainEvent.MessageDiscarded.self).messageID == first.id)
            #expect(try await watcher.document(Portrait.self)?.name == "nobody")
            try await watcher.send(Command.Wave())
            _ = try await watcher.first(DomainEvent.Greeted.self) { $0.name == "waved" }
        }
        #expect(steps.all == ["prepare anna", "ended", "prepare nobody"])
        #expect(begun.all.count == 1)
        #expect(try await greeted() == ["waved"])
    }

    @Test("A message of another type can end the work, whose document is replaced and message discarded")
    func endedByAnother() async throws {
        let steps = Calls<String>()
        let consumer = handlers { name in
            if name == "bert" { return }
            // Only the cancellation of the task ends this.
            await Latch().waitUntilOpenOrCancelled()
            steps.add("ended")
            try Task.checkCancellation()
        }.on(DomainEvent.Greeted.self, ending: Portrait.self, when: { $0.name == "stop" }) { event, _ in
            steps.add("handled \(event.name)")
            return []
        }.service(on: EventBus.inMemory(source: "painter/1", hub: hub))
        try await withRunning(consumer) {
            let first = try await watcher.send(Command.Greet(name: "anna"))
            try await watcher.send(Command.Greet(name: "carl"), subject: "another")
            _ = try await watcher.received(Portrait.self, 2)
            try await watcher.publish(DomainEvent.Greeted(name: "go on"))
            try await watcher.publish(DomainEvent.Greeted(name: "stop"))
            let discarded = try await watcher.received(DomainEvent.MessageDiscarded.self)[0]
            #expect(try discarded.decode(DomainEvent.MessageDiscarded.self).messageID == first.id)
            #expect(try await watcher.document(Portrait.self)?.name == "no anna")
            #expect(try await watcher.document(Portrait.self, subject: "another")?.name == "carl")

            // Work that has finished is neither discarded nor replaced.
            try await watcher.send(Command.Greet(name: "bert"))
            _ = try await watcher.first(DomainEvent.Greeted.self) { $0.name == "bert" }
            try await watcher.publish(DomainEvent.Greeted(name: "stop"))
            try await watcher.send(Command.Wave())
            _ = try await watcher.first(DomainEvent.Greeted.self) { $0.name == "waved" }
            #expect(try await watcher.document(Portrait.self)?.name == "bert")
        }
        #expect(steps.all.prefix(3) == ["handled go on", "ended", "handled stop"])
        #expect(try await watcher.journalled(DomainEvent.MessageDiscarded.self).count == 1)
        #expect(try await watcher.journalled(ApplicationError.self).isEmpty)
    }

    @Test("Work is started again after a crash with the same message id, and not after it has ended")
    func restarted() async throws {
        let cause = try await watcher.send(Command.Greet(name: "anna"))
        try await withRunning(painter(1) { _ in try await Latch().waitUntilOpen() }) {
            _ = try await watcher.received(Portrait.self)
        }
        try await withRunning(painter(2)) {
            let results = try await watcher.received(DomainEvent.Greeted.self)
            #expect(results[0].attributes.causationID == cause.id)
            #expect(results[0].attributes.correlationID == cause.attributes.correlationID)
        }
        let count = begun.all.count
        try await withRunning(painter(3)) {
            try await watcher.send(Command.Wave())
            _ = try await watcher.first(DomainEvent.Greeted.self) { $0.name == "waved" }
        }
        #expect(begun.all.count == count)
        #expect(Set(begun.all) == [cause.id])
        #expect(try await greeted() == ["anna", "waved"])
    }

    @Test("Work whose partition has gone to another member is recorded once")
    func fenced() async throws {
        let finish = Latch()
        let isFirst = Latch()
        let consumer = painter(1) { [begun] _ in
            guard begun.all.count == 1 else { return }
            isFirst.open()
            try await finish.waitUntilOpen()
        }
        try await withRunning(consumer) {
            try await watcher.send(Command.Greet(name: "anna"))
            try await isFirst.waitUntilOpen()
            _ = try await watcher.engine.claim(consumer: "painter", as: .exclusive)
            finish.open()
            _ = try await watcher.first(DomainEvent.Greeted.self) { $0.name == "anna" }
            try await watcher.send(Command.Wave())
            _ = try await watcher.first(DomainEvent.Greeted.self) { $0.name == "waved" }
        }
        #expect(try await greeted() == ["anna", "waved"])
    }

    @Test("Work continues in another instance when its own one ends")
    func handedOver() async throws {
        let isDoomed = Latch()
        let doomed = painter(1) { _ in
            isDoomed.open()
            try await Latch().waitUntilOpen()
        }
        let end = Latch()
        try await withThrowingTaskGroup { group in
            group.addTask {
                // The first consumer runs until the gate is open.
                try await withRunning(doomed) { try await end.waitUntilOpen() }
            }
            try await watcher.send(Command.Greet(name: "anna"))
            try await isDoomed.waitUntilOpen()
            try await withRunning(painter(2)) {
                end.open()
                let results = try await watcher.received(DomainEvent.Greeted.self)
                #expect(results[0].attributes.source == "painter/2")
            }
            try await group.waitForAll()
        }
        #expect(try await greeted() == ["anna"])
    }

    @Test("Work ends with its session")
    func sessionEnded() async throws {
        let ended = Latch()
        let consumer = painter(1) { _ in
            await Latch().waitUntilOpenOrCancelled()
            ended.open()
            try Task.checkCancellation()
        }
        try await withRunning(consumer) {
            try await watcher.send(Command.Greet(name: "anna"))
            _ = try await watcher.received(Portrait.self)
            try await watcher.endSession()
            try await ended.waitUntilOpen()
            try await watcher.send(Command.Wave())
            _ = try await watcher.received(DomainEvent.Greeted.self)
            #expect(try await watcher.document(Portrait.self) == nil)
        }
        #expect(try await greeted() == ["waved"])
    }

    @Test("Work that fails replaces its document and publishes an error, after all attempts or at once")
    func failed() async throws {
        struct Broken: Error {}
        let retries = RetryPolicy(attempts: 2, firstDelay: .zero, factor: 1)
        let consumer = painter(1, retries: retries) { name in
            if name == "anna" { throw Broken() }
            throw ApplicationError(code: "portrait.ugly", message: "no")
        }
        try await withRunning(consumer) {
            try await watcher.send(Command.Greet(name: "anna"))
            _ = try await watcher.first(ApplicationError.self) { $0.code == "painter.failed" }
            #expect(try await watcher.document(Portrait.self)?.name == "no anna")
            try await watcher.send(Command.Greet(name: "bert"))
            _ = try await watcher.first(ApplicationError.self) { $0.code == "portrait.ugly" }
            #expect(try await watcher.document(Portrait.self)?.name == "no bert")
        }
        #expect(begun.all.count == 3)
    }
}
