import Synchronization
import SystemSupport
import Testing

@testable import NATS

@Suite(.timeLimit(.minutes(3)))
struct AlarmTests {
    /// Records the deadlines that have come.
    private final class Owner: Expiring {
        private let waiting = Mutex<[ContinuousClock.Instant]>([])
        private let passed: AsyncStream<ContinuousClock.Instant>.Continuation
        private let alarm: Alarm

        init(_ thread: ExecutorThread, _ passed: AsyncStream<ContinuousClock.Instant>.Continuation) {
            alarm = Alarm(thread)
            self.passed = passed
        }

        func add(_ deadline: ContinuousClock.Instant) {
            waiting.withLock { $0.append(deadline) }
            alarm.set(deadline, for: self)
        }

        func expire(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
            let due = waiting.withLock { waiting in
                defer { waiting.removeAll { $0 <= now } }
                return waiting.filter { $0 <= now }.sorted()
            }
            for deadline in due { passed.yield(deadline) }
            return waiting.withLock { $0.min() }
        }
    }

    @Test func `Each deadline fires, whatever the order in which they are set`() async throws {
        let thread = ExecutorThread(name: "alarm")
        defer { thread.stop() }
        let (passed, writer) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
        let owner = Owner(thread, writer)
        let start = ContinuousClock.now
        let deadlines = [60, 20, 90, 40, 0].map { start + .milliseconds($0) }
        for deadline in deadlines { owner.add(deadline) }
        var seen: [ContinuousClock.Instant] = []
        for await deadline in passed {
            #expect(ContinuousClock.now >= deadline)
            seen.append(deadline)
            if seen.count == deadlines.count { break }
        }
        #expect(seen == [0, 20, 40, 60, 90].map { start + .milliseconds($0) })
        // After all have passed, a new one comes, too.
        let last = ContinuousClock.now + .milliseconds(10)
        owner.add(last)
        #expect(await passed.first { _ in true } == last)
    }
}
