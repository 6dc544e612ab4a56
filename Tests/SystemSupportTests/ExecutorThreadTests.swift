import Synchronization
import Testing

@testable import SystemSupport

@Suite("Thread that runs jobs")
struct ExecutorThreadTests {
    /// Uses the thread when it ends.
    private final class Owner: Sendable {
        private let thread: ExecutorThread
        private let ended: @Sendable () -> Void

        init(_ thread: ExecutorThread, ended: @escaping @Sendable () -> Void) {
            self.thread = thread
            self.ended = ended
        }

        deinit { thread.perform(ended) }
    }

    @Test("An object can use the thread even if a job is its last owner")
    func lastOwner() async {
        let thread = ExecutorThread(name: "test")
        await withCheckedContinuation { continuation in
            let owner = Owner(thread) { continuation.resume() }
            thread.perform { withExtendedLifetime(owner) {} }
        }
        thread.stop()
    }

    @Test("Jobs run in order, and timers when they are due")
    func order() async {
        let thread = ExecutorThread(name: "test")
        let numbers = Mutex<[Int]>([])
        await withCheckedContinuation { continuation in
            thread.perform(after: .milliseconds(20)) {
                numbers.withLock { $0.append(1_000) }
                continuation.resume()
            }
            for number in 0..<100 { thread.perform { numbers.withLock { $0.append(number) } } }
        }
        #expect(numbers.withLock { $0 } == Array(0..<100) + [1_000])
        thread.stop()
    }
}
