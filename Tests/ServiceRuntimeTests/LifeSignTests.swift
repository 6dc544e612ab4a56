import Foundation
import Logging
import RuntimeTestSupport
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import SystemSupport
import Testing

@testable import ServiceRuntime

@Suite("Signs of life")
struct LifeSignTests {
    @Test("A process is watched when the variables are there and mean it")
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

    @Test("A host that is watched tells again and again that it lives, another never does")
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

    @Test("A process is silent for as long as one of its threads does not answer")
    func hangingThread() async throws {
        let watched = try #require(Watchdog(environment: ["WATCHDOG_USEC": "20000"]))
        let service = HeldService()
        try await running([service], watchdog: watched) { socket, notifier in
            #expect(await socket.next() == .ready)
            // Gives a faulty host, one that does not wait for the thread, time to send a message.
            for _ in 0..<100 { await Task.yield() }
            notifier.notify(.stopping)
            service.owner.executor.release()
            #expect(await socket.next() == .stopping)
            #expect(await socket.next() == .alive)
        }
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

    private final class HeldExecutor: SerialExecutor {
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
        let socket = try NotifySocket(path: "@segue-test-\(UUID().uuidString)")
        let notifier = Notifier(socketPath: socket.path)
        let host = ServiceHost(logger: .silent, services: services, notifier: notifier, watchdog: watchdog)
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
