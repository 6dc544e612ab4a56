import Contracts
import EventBus
import Foundation
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("Signs of life")
struct LifeSignTests {
    @Test("A process is watched if the variables are set and valid for it")
    func variables() {
        #expect(Watchdog(environment: ["WATCHDOG_USEC": "3000000"], pid: 7)?.timeout == .seconds(3))
        #expect(
            Watchdog(environment: ["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "7"], pid: 7)?.interval == .seconds(1.5))
        #expect(Watchdog(environment: ["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "8"], pid: 7) == nil)
        for text in ["", "0", "-1", "soon", "99999999999999999999"] {
            #expect(Watchdog(environment: ["WATCHDOG_USEC": text], pid: 7) == nil)
        }
        #expect(Watchdog(environment: ["WATCHDOG_PID": "7"], pid: 7) == nil)
    }

    @Test("A watched host sends signs of life repeatedly, and another host sends none")
    func host() async throws {
        let watched = try #require(Watchdog(environment: ["WATCHDOG_USEC": "20000"]))
        try await running([], watchdog: watched) { socket, _ in
            var beats = 0
            while beats < 3, let message = await socket.next() { beats += message == .alive ? 1 : 0 }
            #expect(beats == 3)
        }
        try await running([], watchdog: nil) { socket, _ in
            #expect(await socket.next() == .ready)
        } ending: { socket in
            #expect(await socket.next() == .stopping)
        }
    }

    @Test(
        "A process is silent while the thread of a service, or of its bus, does not answer",
        arguments: [true, false])
    func hangingThread(isBus: Bool) async throws {
        let watched = try #require(Watchdog(environment: ["WATCHDOG_USEC": "20000"]))
        let (service, bus) = (HeldService(), HeldBus())
        let executor = isBus ? bus.executor : service.owner.executor
        try await running { notifier in
            if isBus {
                let process = ServiceProcess(
                    "greeter", version: "1", instance: "i1", receives: [Command.Greet.self],
                    sends: [DomainEvent.Greeted.self])
                let context = ServiceContext(
                    process: process, bus: bus.bus, busAddress: "ipc:///nowhere",
                    configuration: ServiceConfiguration(environment: [:]), logger: .silent)
                return ServiceHost(context: context, services: [], notifier: notifier, watchdog: watched)
            }
            return ServiceHost(logger: .silent, services: [service], notifier: notifier, watchdog: watched)
        } _: { socket, notifier in
            #expect(await socket.next() == .ready)
            // Gives a faulty host, one that does not wait for the thread, time to send a message.
            for _ in 0..<100 { await Task.yield() }
            notifier.notify(.stopping)
            executor.release()
            #expect(await socket.next() == .stopping)
            #expect(await socket.next() == .alive)
        }
    }

    private struct HeldBus: ForwardingEngine {
        let inner = EventBus.inMemory(source: "greeter/i1")
        let executor = HeldExecutor()

        var taskExecutor: (any SerialExecutor & TaskExecutor)? { executor }
    }

    private struct HeldService: ThreadedService {
        let owner = HeldActor()

        func run() async throws { try await gracefulShutdown() }
    }

    /// An actor that answers only after it is released.
    private actor HeldActor {
        nonisolated let executor = HeldExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    }

    private final class HeldExecutor: SerialExecutor, TaskExecutor {
        private let held = Mutex<[UnownedJob]?>([])

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let isHeld = held.withLock { held in
                held?.append(job)
                return held != nil
            }
            if !isHeld { run(job) }
        }

        func release() {
            let jobs = held.withLock { held in
                defer { held = nil }
                return held ?? []
            }
            jobs.forEach(run)
        }

        private func run(_ job: UnownedJob) {
            job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }

    /// Runs a host until `body` has ended, then stops it gracefully.
    private func running(
        _ services: [any Service], watchdog: Watchdog?,
        _ body: @escaping @Sendable (NotifySocket, Notifier) async throws -> Void,
        ending: (NotifySocket) async -> Void = { _ in }
    ) async throws {
        try await running(
            { ServiceHost(logger: .silent, services: services, notifier: $0, watchdog: watchdog) }, body, ending: ending
        )
    }

    private func running(
        _ host: (Notifier) -> ServiceHost,
        _ body: @escaping @Sendable (NotifySocket, Notifier) async throws -> Void,
        ending: (NotifySocket) async -> Void = { _ in }
    ) async throws {
        let socket = try NotifySocket(path: "@segue-test-\(UUID().uuidString)")
        let notifier = Notifier(socketPath: socket.path)
        let host = host(notifier)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { try await host.run() }
                try await body(socket, notifier)
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        await ending(socket)
    }
}
