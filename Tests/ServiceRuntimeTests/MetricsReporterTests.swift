import Consuming
import Contracts
import EventBus
import Foundation
import Logging
import SegueTestSupport
import Support
import Synchronization
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("Metrics of a process", .timeLimit(.minutes(1)))
struct MetricsReporterTests {
    /// A bus that counts how often a lag is computed.
    private final class CountingBus: ForwardingEngine {
        let inner: EventBus
        private let lags = Mutex(0)

        init(_ bus: EventBus) { inner = bus }

        var count: Int { lags.withLock { $0 } }

        func lag(after position: Position, matching filters: [MessageFilter]) async throws -> UInt64 {
            lags.withLock { $0 += 1 }
            return try await inner.engine.lag(after: position, matching: filters)
        }
    }

    private let greeter = Greeter()

    @Test("The metrics count messages that were handled and that were given up")
    func counts() async throws {
        try await greeter.running {
            try await greeter.watcher.send(Command.Greet(name: "Ada"))
            try await greeter.watcher.send(Command.Wave())
            let attributes = Attributes(type: Command.Greet.type, source: "stranger/1")
            try await greeter.watcher.publish(Batch([Envelope(attributes: attributes, data: Data("{}".utf8))]))
            let metrics = try await greeter.metrics { $0.handled + $0.failed == 3 && $0.lag == 0 }
            #expect(metrics == .init(instance: "i1", handled: 2, failed: 1, lag: 0))
        }
    }

    @Test("The metrics contain the lag of each consumer, also when it is zero")
    func lag() async throws {
        let gate = Latch()
        try await greeter.running(gate: gate) {
            for name in ["Ada", "Grace", "Barbara"] { try await greeter.watcher.send(Command.Greet(name: name)) }
            try await greeter.metrics { $0.lag == 3 }
            gate.open()
            try await greeter.metrics { $0.handled == 3 && $0.lag == 0 }
        }
    }

    @Test("The metrics are computed only when they are requested")
    func unasked() async throws {
        let counting = Mutex<CountingBus?>(nil)
        let greeter = Greeter { bus in
            let engine = CountingBus(bus)
            counting.withLock { $0 = engine }
            return engine.bus
        }
        let bus = try #require(counting.withLock { $0 })
        let gate = Latch()
        try await greeter.running(gate: gate) {
            try await greeter.watcher.send(Command.Greet(name: "Ada"))
            try await greeter.metrics { $0.lag == 1 }
            let count = bus.count
            for _ in 0..<60 { greeter.clock.advance(by: .seconds(60)) }
            for _ in 0..<100 { await Task.yield() }
            #expect(bus.count == count)
            try await greeter.metrics()
            #expect(bus.count == count + 1)
            gate.open()
        }
    }

    @Test("The metrics are reported once for all requests of a pause")
    func flood() async throws {
        try await greeter.running {
            let filters: [MessageFilter] = [.type(DomainEvent.MetricsReported.self), .type(DomainEvent.Greeted.self)]
            try await greeter.watcher.withSubscription(to: filters, from: .now) { messages in
                for _ in 0..<5 {
                    try await greeter.ask(100)
                    #expect(try await messages.first?.type == DomainEvent.MetricsReported.type)
                    try await greeter.clock.sleepers()
                    // While the process pauses there is no other report before this message.
                    try await greeter.watcher.publish(DomainEvent.Greeted(name: "nobody"))
                    #expect(try await messages.first?.type == DomainEvent.Greeted.type)
                    greeter.clock.advance(by: MetricsReporter.pause)
                }
            }
        }
    }

    @Test("A waiting member has no lag, even if other members handle newer messages")
    func sharedLag() async throws {
        let (context, hub, watcher) = (greeter.context, greeter.hub, greeter.watcher)
        let metrics = ConsumerMetrics()
        let handlers = Handlers("greeter").on(Command.Greet.self, sends: DomainEvent.Greeted.self) { command, _ in
            [DomainEvent.Greeted(name: command.name)]
        }
        try await withRunning(handlers.service(on: context.bus, metrics: metrics)) {
            let other = EventBus.inMemory(source: "greeter/2", hub: hub)
            try await withRunning(handlers.service(on: other)) {
                for number in 0..<64 {
                    try await watcher.send(Command.Greet(name: "\(number)"), subject: "guest-\(number)")
                }
                _ = try await watcher.received(DomainEvent.Greeted.self, 64)
                while try await metrics.lag(on: context.bus) != 0 { await Task.yield() }
                #expect(metrics.handled < 64)
            }
        }
    }
}
