import Consuming
import Contracts
import EventBus
import Logging
import SegueTestSupport
import ServiceLifecycle
import ServiceLifecycleTestKit
import Support
import TestSupport
import Testing

@Suite("Handlers: starting and stopping")
struct HandlerLifecycleTests {
    let hub = InMemoryHub(maximumGap: 1000)
    let bus: EventBus

    init() {
        bus = EventBus.inMemory(source: "greeter/1", hub: hub)
    }

    private func greeter(
        on bus: EventBus, clock: any Clock<Duration> = ContinuousClock(),
        before: @escaping @Sendable () async throws -> Void = {}
    ) -> HandlerService {
        Handlers("greeter")
            .on(Command.Greet.self, sends: DomainEvent.Greeted.self) { command, _ in
                try await before()
                return [DomainEvent.Greeted(name: command.name)]
            }
            .service(on: bus, clock: clock)
    }

    @Test("A message is handled again after a kill, and its result is recorded once")
    func killed() async throws {
        let started = Latch()
        try await bus.send(Command.Greet(name: "Ada"))
        let never = Latch()
        let doomed = greeter(on: bus) {
            started.open()
            try await never.waitUntilOpen()
        }
        try await withRunning(doomed) { try await started.waitUntilOpen() }
        #expect(try await bus.journalled(DomainEvent.Greeted.self).isEmpty)
        try await withRunning(greeter(on: bus)) { _ = try await bus.received(DomainEvent.Greeted.self) }
        #expect(try await bus.journalled(DomainEvent.Greeted.self).count == 1)
    }

    @Test("A handler that is running completes its message when the service is asked to stop")
    func gracefulShutdown() async throws {
        let started = Latch()
        let finish = Latch()
        let consumer = greeter(on: bus) {
            started.open()
            try await finish.waitUntilOpen()
        }
        try await bus.send(Command.Greet(name: "Ada"))
        try await bus.send(Command.Greet(name: "Grace"))
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { try await consumer.run() }
                try await started.waitUntilOpen()
                trigger.triggerGracefulShutdown()
                finish.open()
                try await group.waitForAll()
            }
        }
        let greeted = try await bus.journalled(DomainEvent.Greeted.self)
        #expect(try greeted.map { try $0.decode(DomainEvent.Greeted.self).name } == ["Ada"])
    }

    @Test("An idle service stops at once when it is asked to")
    func gracefulShutdownWhenIdle() async throws {
        let consumer = greeter(on: bus)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { try await consumer.run() }
                try await consumer.ready.waitUntilOpen()
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    @Test("A service without a broker stops at once when it is asked to")
    func gracefulShutdownWithoutBroker() async throws {
        let silent = SilentBus(inner: bus)
        let consumer = greeter(on: silent.bus)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { try await consumer.run() }
                try await silent.asked.waitUntilOpen()
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    @Test("A service waits for a broker that is away")
    func unavailable() async throws {
        let clock = ManualClock()
        let consumer = greeter(on: UnreliableBus(bus, failures: 2).bus, clock: clock)
        try await bus.send(Command.Greet(name: "Ada"))
        try await withRunning(consumer as any Service) {
            for _ in 0..<2 {
                try await clock.sleepers()
                clock.advance(by: .seconds(1))
            }
            _ = try await bus.received(DomainEvent.Greeted.self)
        }
    }
}
