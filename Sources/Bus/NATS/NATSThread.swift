internal import Foundation

/// A thread that makes the calls of libnats that may wait for a server or for a thread of libnats to end, in the order
/// in which they were requested.
///
/// - Note: `@unchecked Sendable`: `queue`, `isWaiting` and `isStopping` are used only while `condition` is locked.
final class NATSThread: @unchecked Sendable {
    private let condition = NSCondition()
    private var queue: [@Sendable () -> Void] = []
    private var isWaiting = false
    private var isStopping = false

    init() {
        let thread = Thread { self.loop() }
        thread.name = "nats"
        thread.start()
    }

    /// Runs `work` on the thread. Does nothing after ``stop()``.
    func perform(_ work: @escaping @Sendable () -> Void) {
        condition.lock()
        if !isStopping {
            queue.append(work)
            if isWaiting { condition.signal() }
        }
        condition.unlock()
    }

    /// Runs `work` on the thread and returns its result. Does not end early if the task is cancelled, because `work`
    /// may have begun. Must not be called after ``stop()``.
    func call<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            perform { continuation.resume(returning: work()) }
        }
    }

    /// Ends the thread when its queue is empty.
    func stop() {
        condition.lock()
        isStopping = true
        condition.signal()
        condition.unlock()
    }

    private func loop() {
        while let work = next() {
            for item in work { item() }
        }
    }

    /// Waits for work. Returns nil when the thread is to end.
    private func next() -> [@Sendable () -> Void]? {
        condition.lock()
        defer { condition.unlock() }
        while queue.isEmpty {
            guard !isStopping else { return nil }
            isWaiting = true
            condition.wait()
            isWaiting = false
        }
        defer { queue = [] }
        return queue
    }
}
