import Consuming
import Contracts
import EventBus
import Foundation
import SegueTestSupport
import ServiceLifecycle
import ServiceLifecycleTestKit
import Support
import SystemSupport
import TestSupport
import Testing

@testable import ServiceRuntime

/// A process with one durable consumer, on a clock that stands still.
struct Greeter {
    let hub = InMemoryHub(maximumGap: 1000)
    let clock = ManualClock()
    let context: ServiceContext
    /// Another process on the bus.
    let watcher: EventBus

    /// - Parameter wrap: makes the bus of the process from one in memory.
    init(_ wrap: (EventBus) -> EventBus = { $0 }) {
        watcher = EventBus.inMemory(source: "watcher/1", hub: hub)
        let process = ServiceProcess("greeter", instance: "i1")
        context = ServiceContext(
            process: process, bus: wrap(EventBus.inMemory(source: process.source, hub: hub)),
            busAddress: "ipc:///nowhere", configuration: ServiceConfiguration(environment: [:]), logger: .silent)
    }

    /// Runs `body` when the process is ready. Its consumer waits at the gate before each answer.
    func running(gate: Latch? = nil, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let handlers = Handlers("greeter")
            .on(Command.Greet.self, sends: DomainEvent.Greeted.self) { command, _ in
                try await gate?.waitUntilOpen()
                if command.name == "nobody" { _ = try context.require("NOBODY") }
                return [DomainEvent.Greeted(name: command.name)]
            }
            .on(Command.Wave.self) { _, _ in [] }
        let path = "@segue-test-\(UUID().uuidString)"
        let socket = try NotifySocket(path: path)
        let host = ServiceHost(
            context: context, services: [HandlerService(handlers, in: context)], notifier: Notifier(socketPath: path),
            clock: clock)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { try await host.run() }
                #expect(await socket.next() == .ready)
                try await body()
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    /// Asks the process for its metrics until they satisfy a condition. Between two requests the pause passes.
    @discardableResult
    func metrics(
        where condition: (DomainEvent.MetricsReported) -> Bool = { _ in true }
    ) async throws -> DomainEvent.MetricsReported? {
        try await watcher.withSubscription(to: [.type(DomainEvent.MetricsReported.self)], from: .now) { reports in
            while true {
                try await ask()
                guard let report = try await reports.first?.decode(DomainEvent.MetricsReported.self) else { return nil }
                try await clock.sleepers()
                clock.advance(by: MetricsReporter.pause)
                if condition(report) { return report }
            }
        }
    }

    /// Sends requests for metrics.
    func ask(_ count: Int = 1) async throws {
        for _ in 0..<count {
            try await watcher.publishTransient([Envelope(DomainEvent.MetricsRequested(), source: watcher.source)])
        }
    }
}
