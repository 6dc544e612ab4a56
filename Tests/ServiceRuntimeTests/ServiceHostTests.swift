import Consuming
import Contracts
import EventBus
import Foundation
import Logging
import SegueTestSupport
import ServiceLifecycle
import ServiceLifecycleTestKit
import Support
import SystemSupport
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("Service host")
struct ServiceHostTests {
    let hub = InMemoryHub(maximumGap: 1000)
    /// A process that observes the process under test.
    let watcher: EventBus

    init() {
        watcher = EventBus.inMemory(source: "watcher/1", hub: hub)
    }

    private func context(_ bus: EventBus? = nil, logger: Logger = .silent) -> ServiceContext {
        let process = ServiceProcess(
            "greeter", version: "1.2.3", instance: "i1", receives: [Command.Greet.self],
            sends: [DomainEvent.Greeted.self])
        return ServiceContext(
            process: process, bus: bus ?? EventBus.inMemory(source: process.source, hub: hub),
            busAddress: "ipc:///nowhere", configuration: ServiceConfiguration(environment: [:]), logger: logger)
    }

    private struct GatedService: ReadyService {
        let ready = Latch()
        let gate = Latch()
        var failure: (any Error)?
        var beforeReady: @Sendable () -> Void = {}

        func run() async throws {
            try await gate.waitUntilOpen()
            beforeReady()
            ready.open()
            if let failure { throw failure }
            try await gracefulShutdown()
        }
    }

    /// Runs a host until `body` has ended, then stops it gracefully.
    private func running(_ host: ServiceHost, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { try await host.run() }
                try await body()
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    @Test("The presence of a process is published while the host runs")
    func presence() async throws {
        try await running(ServiceHost(context: context(), services: [], notifier: Notifier(socketPath: nil))) {
            let document = try await watcher.received(Document.Presence.self)[0]
            let presence = try document.decode(Document.Presence.self)
            #expect(document.attributes.key == "i1")
            #expect(presence.name == "greeter")
            #expect(presence.version == "1.2.3")
            #expect(presence.pid == ProcessInfo.processInfo.processIdentifier)
            #expect(presence.receives == ["command.Greet"])
            #expect(presence.sends == ["event.Greeted"])
        }
        #expect(try await watcher.documents(matching: [.type(Document.Presence.self)]).isEmpty)
    }

    @Test("The contract of a process is published while the host runs")
    func contract() async throws {
        try await running(ServiceHost(context: context(), services: [], notifier: Notifier(socketPath: nil))) {
            _ = try await watcher.received(Document.Presence.self)
            let contract = try await watcher.document(Document.ServiceContract.self, key: "i1")
            let data = JSONSchema.object(["name": .init(.string)])
            #expect(
                contract
                    == Document.ServiceContract(
                        name: "greeter", version: "1.2.3", instance: "i1",
                        receives: [MessageContract(type: Command.Greet.type, data: data)],
                        sends: [MessageContract(type: DomainEvent.Greeted.type, data: data)]))
        }
        #expect(try await watcher.documents(matching: [.type(Document.ServiceContract.self)]).isEmpty)
    }

    @Test("The host notifies its supervisor when its services are ready, and when it stops", arguments: [true, false])
    func notifications(isAbstract: Bool) async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let path = isAbstract ? "@segue-test-\(UUID().uuidString)" : scratch.path("notify")
        let socket = try NotifySocket(path: path)
        let notifier = Notifier(socketPath: path)
        // This datagram marks the moment before READY=1. Its content does not matter.
        let service = GatedService(beforeReady: { notifier.notify(.stopping) })
        let host = ServiceHost(context: context(), services: [service], notifier: notifier)
        try await running(host) {
            _ = try await watcher.received(Document.Presence.self)
            // Gives a faulty host, one that reports too early, time to send READY=1.
            for _ in 0..<100 { await Task.yield() }
            service.gate.open()
            #expect(await socket.next() == .stopping)
            #expect(await socket.next() == .ready)
        }
        #expect(await socket.next() == .stopping)
    }

    @Test(
        "The host continues when no supervisor listens",
        arguments: ["/nowhere/notify", "@nobody", "@", "", String(repeating: "x", count: 200)])
    func noSupervisor(path: String) async throws {
        let host = ServiceHost(context: context(), services: [], notifier: Notifier(socketPath: path))
        try await running(host) { _ = try await watcher.received(Document.Presence.self) }
    }

    @Test("The host ends with the error of a service, and withdraws its presence")
    func failure() async throws {
        let service = GatedService(failure: ApplicationError(code: "greeter.broken", message: "broken"))
        let host = ServiceHost(context: context(), services: [service], notifier: Notifier(socketPath: nil))
        let error = await #expect(throws: ApplicationError.self) {
            try await withThrowingTaskGroup { group in
                group.addTask { try await host.run() }
                _ = try await watcher.received(Document.Presence.self)
                service.gate.open()
                try await group.waitForAll()
            }
        }
        #expect(error?.code == "greeter.broken")
        #expect(try await watcher.documents(matching: [.type(Document.Presence.self)]).isEmpty)
    }

    private struct BriefService: Service {
        func run() async throws {}
    }

    @Test("A service that ends early is a failure")
    func earlyEnd() async throws {
        let host = ServiceHost(
            context: context(), services: [BriefService()], notifier: Notifier(socketPath: nil))
        let error = await #expect(throws: EarlyEnd.self) { try await host.run() }
        #expect(error?.description == "one of its services ended before the process was asked to stop")
    }

    private struct BriefForegroundService: ForegroundService {
        func run() async throws {}
    }

    @Test("The host stops in order with success when a foreground service has ended")
    func foreground() async throws {
        let other = GatedService()
        other.gate.open()
        let services: [any Service] = [other, BriefForegroundService()]
        try await ServiceHost(context: context(), services: services, notifier: Notifier(socketPath: nil)).run()
        #expect(try await watcher.documents(matching: [.type(Document.Presence.self)]).isEmpty)
    }

    private struct CancelledService: Service {
        func run() async throws {
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(3600)) }
        }
    }

    /// Finishes its work after it was asked to stop. A cancelled service could not.
    private struct OrderlyService: Service {
        func run() async throws {
            try await gracefulShutdown()
            try Task.checkCancellation()
        }
    }

    @Test("The host stops in order with success when a service is cancelled by a request to stop")
    func cancelledByRequest() async throws {
        let services: [any Service] = [OrderlyService(), CancelledService()]
        let host = ServiceHost(context: context(), services: services, notifier: Notifier(socketPath: nil))
        try await running(host) { _ = try await watcher.received(Document.Presence.self) }
    }

    private struct GivenUpService: Service {
        func run() async throws { throw CancellationError() }
    }

    @Test("A cancellation without a request to stop is a failure")
    func cancelledWithoutRequest() async throws {
        let host = ServiceHost(
            context: context(), services: [GivenUpService()], notifier: Notifier(socketPath: nil))
        await #expect(throws: EarlyEnd.self) { try await host.run() }
    }

    @Test("The host waits for a broker that starts later, and logs that it waits")
    func lateBroker() async throws {
        let clock = ManualClock()
        let log = LogRecorder()
        let bus = UnreliableBus(EventBus.inMemory(source: "greeter/i1", hub: hub), failures: 6)
        let host = ServiceHost(
            context: context(bus.bus, logger: log.logger), services: [], notifier: Notifier(socketPath: nil),
            clock: clock)
        try await running(host) {
            for _ in 0..<6 {
                // One task waits for the next attempt, the other for the next reminder.
                try await clock.sleepers(2)
                clock.advance(by: .seconds(1))
            }
            _ = try await watcher.received(Document.Presence.self)
        }
        #expect(log.lines.contains("warning: waiting for the bus at ipc:///nowhere"))
    }

    @Test("The host stops on request while the broker is away")
    func stopsWhileBrokerIsAway() async throws {
        let bus = StallingBus(bus: EventBus.inMemory(source: "greeter/i1", hub: hub))
        let host = ServiceHost(context: context(bus.bus), services: [], notifier: Notifier(socketPath: nil))
        let start = ContinuousClock.now
        try await running(host) {
            _ = try await watcher.received(Document.Presence.self)
            bus.stall()
        }
        #expect(ContinuousClock.now - start < ServiceHost.grace, "it was not cancelled")
        #expect(try await watcher.documents(matching: [.type(Document.Presence.self)]).isEmpty)
    }

    @Test("The host stops on request while the broker has not started yet")
    func stopsWithoutBroker() async throws {
        let clock = ManualClock()
        let bus = UnreliableBus(EventBus.inMemory(source: "greeter/i1", hub: hub), failures: .max)
        let host = ServiceHost(
            context: context(bus.bus), services: [], notifier: Notifier(socketPath: nil), clock: clock)
        try await running(host) { try await clock.sleepers(2) }
    }
}
