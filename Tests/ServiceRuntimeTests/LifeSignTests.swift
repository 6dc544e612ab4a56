import Dispatch
import Foundation
import Glibc
import Logging
import RuntimeTestSupport
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
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
        try await running([], watchdog: watched) { states, _ in
            let beats = await states.filter { $0 == "WATCHDOG=1" }.prefix(3).reduce(0) { count, _ in count + 1 }
            #expect(beats == 3)
        }
        try await running([], watchdog: nil) { states, _ in
            #expect(await states.first { _ in true } == "READY=1")
        } ending: { states in
            #expect(await states.first { _ in true } == "STOPPING=1")
        }
    }

    @Test("A process is silent for as long as one of its threads does not answer")
    func hangingThread() async throws {
        let watched = try #require(Watchdog(environment: ["WATCHDOG_USEC": "20000"]))
        let service = HeldService()
        try await running([service], watchdog: watched) { states, notifier in
            #expect(await states.first { _ in true } == "READY=1")
            // A host that does not wait for the thread gets the time to show it.
            for _ in 0..<100 { await Task.yield() }
            notifier.notify(.stopping)
            service.owner.executor.release()
            #expect(await states.first { _ in true } == "STOPPING=1")
            #expect(await states.first { _ in true } == "WATCHDOG=1")
        }
    }

    private struct HeldService: ThreadedService {
        let owner = HeldActor()

        func run() async throws { try await gracefulShutdown() }
    }

    /// Does nothing before it is released.
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
        _ body: @escaping @Sendable (AsyncStream<String>, ServiceNotifier) async throws -> Void,
        ending: (AsyncStream<String>) async -> Void = { _ in }
    ) async throws {
        let path = "@segue-test-\(UUID().uuidString)"
        let socket = try NotifySocket(path: path)
        let states = socket.states
        let notifier = ServiceNotifier(socketPath: path)
        let host = ServiceHost(logger: .silent, services: services, notifier: notifier, watchdog: watchdog)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { try await host.run() }
                try await body(states, notifier)
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        await ending(states)
        withExtendedLifetime(socket) {}
    }
}

/// A supervisor's end of sd_notify: a bound datagram socket.
final class NotifySocket {
    /// What was notified, in order.
    let states: AsyncStream<String>
    private let source: any DispatchSourceRead

    struct CannotBind: Error {}

    /// - Parameter path: where to bind it; `@name` for the abstract namespace.
    init(path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { buffer in
            buffer.copyBytes(from: bytes)
            if bytes.first == UInt8(ascii: "@") { buffer[0] = 0 }
        }
        let isAbstract = bytes.first == UInt8(ascii: "@")
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard bound == 0 else {
            close(descriptor)
            throw CannotBind()
        }
        let (states, continuation) = AsyncStream.makeStream(of: String.self)
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        source.setEventHandler {
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { continuation.yield(String(decoding: buffer.prefix(count), as: UTF8.self)) }
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
        self.states = states
        self.source = source
    }

    deinit { source.cancel() }
}
