import Consuming
import Contracts
import EventBus
import Logging
import Support
import TestSupport
import Testing

@Suite("Handlers: several instances", .timeLimit(.minutes(1)))
struct HandlerSharingTests {
    let hub = InMemoryHub(maximumGap: 1000)
    let watcher: EventBus

    init() {
        watcher = EventBus.inMemory(source: "watcher/1", hub: hub)
    }

    private func greeter(
        _ instance: Int, metrics: ConsumerMetrics = ConsumerMetrics(),
        before: @escaping @Sendable () async throws -> Void = {}
    ) -> HandlerService {
        Handlers("greeter")
            .on(Command.Greet.self, sends: DomainEvent.Greeted.self) { command, _ in
                try await before()
                return [DomainEvent.Greeted(name: command.name)]
            }
            .service(on: EventBus.inMemory(source: "greeter/\(instance)", hub: hub), metrics: metrics)
    }

    private func greet(_ names: Range<Int>) async throws {
        for name in names { try await watcher.send(Command.Greet(name: "\(name)"), subject: "guest-\(name)") }
    }

    @Test("Instances share the work, and each message is handled once")
    func shared() async throws {
        let metrics = [ConsumerMetrics(), ConsumerMetrics()]
        try await withRunning(greeter(1, metrics: metrics[0])) {
            try await withRunning(greeter(2, metrics: metrics[1])) {
                try await greet(0..<100)
                let greeted = try await watcher.received(DomainEvent.Greeted.self, 100)
                let names = try greeted.map { try $0.decode(DomainEvent.Greeted.self).name }
                #expect(Set(names).count == 100)
                #expect(Set(greeted.map(\.attributes.source)) == ["greeter/1", "greeter/2"])
            }
        }
        #expect(try await watcher.journalled(DomainEvent.Greeted.self).count == 100)
    }

    @Test("An instance continues with the work of one that was killed")
    func death() async throws {
        let doomed = EventBus.inMemory(source: "greeter/1", hub: hub)
        let first = Handlers("greeter")
            .on(Command.Greet.self) { _, _ in
                try await Latch().waitUntilOpen()
                return []
            }
            .service(on: doomed)
        try await withRunning(greeter(2)) {
            try await withThrowingTaskGroup { group in
                // This consumer owns a part of the partitions until the group is cancelled.
                group.addTask { try await doomed.run() }
                group.addTask { try? await first.run() }
                try await first.ready.waitUntilOpen()
                try await greet(0..<100)
                group.cancelAll()
                try await group.waitForAll()
            }
            let greeted = try await watcher.received(DomainEvent.Greeted.self, 100)
            #expect(Set(try greeted.map { try $0.decode(DomainEvent.Greeted.self).name }).count == 100)
        }
        #expect(try await watcher.journalled(DomainEvent.Greeted.self).count == 100)
    }

    @Test("An instance that stops hands over at once, even if its process continues")
    func stops() async throws {
        try await withRunning(greeter(1)) {}
        let claim = try await watcher.engine.claim(consumer: "greeter", as: .shared)
        #expect(claim.offsets.count == Partition.count)
    }

    @Test("The result of a message that another instance has taken over is dropped, and the instance continues")
    func fenced() async throws {
        let started = Latch()
        let finish = Latch()
        let calls = Calls<Int>()
        let consumer = greeter(1) {
            guard calls.add(1) == 1 else { return }
            started.open()
            try await finish.waitUntilOpen()
        }
        try await withRunning(consumer) {
            try await greet(0..<1)
            try await started.waitUntilOpen()
            _ = try await watcher.engine.claim(consumer: "greeter", as: .exclusive)
            finish.open()
            _ = try await watcher.received(DomainEvent.Greeted.self)
            try await greet(1..<2)
            _ = try await watcher.received(DomainEvent.Greeted.self, 2)
        }
        #expect(calls.all.count == 3, "the first one is handled again")
        #expect(try await watcher.journalled(DomainEvent.Greeted.self).count == 2)
    }

    @Test("A handler that began before its partition was lost publishes nothing when the partition is back")
    func stale() async throws {
        let (started, finish, ended) = (Latch(), Latch(), Latch())
        let calls = Calls<Int>()
        let service = Handlers("greeter")
            .on(Command.Greet.self, sends: DomainEvent.Greeted.self) { command, context in
                if calls.add(1) == 1 {
                    started.open()
                    await finish.waitUntilOpenOrCancelled()
                    defer { ended.open() }
                    try await context.publish(DomainEvent.Greeted(name: "stale"))
                }
                return [DomainEvent.Greeted(name: command.name)]
            }
            .service(on: EventBus.inMemory(source: "greeter/1", hub: hub))
        try await withRunning(service) {
            try await watcher.send(Command.Greet(name: "Ada"))
            try await started.waitUntilOpen()
            // Another member gets the partition, and gives it back.
            _ = try await watcher.engine.claim(consumer: "greeter", as: .exclusive)
            try await watcher.send(Command.Greet(name: "Grace"), subject: "another")
            _ = try await watcher.first(DomainEvent.Greeted.self) { $0.name == "Grace" }
            finish.open()
            try await ended.waitUntilOpen()
            _ = try await watcher.first(DomainEvent.Greeted.self) { $0.name == "Ada" }
        }
        let greeted = try await watcher.journalled(DomainEvent.Greeted.self)
        #expect(Set(try greeted.map { try $0.decode(DomainEvent.Greeted.self).name }) == ["Ada", "Grace"])
    }

    @Test("An exclusive consumer ends when another process has taken over")
    func exclusive() async throws {
        let bus = EventBus.inMemory(source: "clerk/1", hub: hub)
        let claim = try await bus.engine.claim(consumer: "clerk", as: .exclusive)
        let live = Latch()
        let error = await #expect(throws: BusError.self) {
            try await withThrowingTaskGroup { group in
                let loop = ConsumerLoop(
                    "clerk", [.type(Command.Greet.self)], bus: bus, logger: .silent, whenLive: live.open)
                group.addTask { try await loop.run(under: claim, partitionsAtOnce: 1) { _ in Handled() } }
                try await live.waitUntilOpen()
                _ = try await watcher.engine.claim(consumer: "clerk", as: .exclusive)
                try await group.waitForAll()
            }
        }
        #expect(error?.code == .fenced)
    }
}
