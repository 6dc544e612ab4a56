internal import CEventDescriptor
internal import Foundation
package import Glibc
internal import Synchronization

/// What an ``ExecutorThread`` waits for beside its jobs, such as a socket. Only this thread uses it.
package protocol ThreadWatch: AnyObject {
    /// The descriptor to wait for.
    var pollItem: pollfd { get }

    /// Records that the descriptor was signalled.
    func recordSignal()

    /// Does what there is to do.
    /// - Returns: False if there was nothing to do.
    func handle() -> Bool
}

/// A thread of its own that runs Swift jobs, and handles sockets between them.
///
/// It is an actor's executor and a task executor. It waits for the descriptors of its watches and for an eventfd. A
/// descriptor may signal only changes, as `ZMQ_FD` does (zmq_getsockopt(3)), so before it waits it asks every watch.
package final class ExecutorThread: SerialExecutor, TaskExecutor {
    private let queue = Mutex(WorkQueue())
    private let wakeUp = EventDescriptor()
    private let identity = Mutex<pthread_t?>(nil)
    /// Used only on this thread. ``add(_:)``, ``remove(_:)`` and ``removeAllWatches()`` check the thread.
    nonisolated(unsafe) private var watches: [any ThreadWatch] = []

    /// The maximum number of passes over the queue before the watches are asked. Jobs can enqueue further jobs.
    private static let passCount = 32

    /// Starts the thread. It runs until ``stop()``.
    package init(name: String) {
        let thread = Thread { self.loop() }
        thread.name = name
        thread.start()
    }

    /// Starts a watch.
    package func add(_ watch: any ThreadWatch) {
        checkIsolated()
        watches.append(watch)
    }

    /// Ends a watch. After that, its descriptor may be closed.
    package func remove(_ watch: any ThreadWatch) {
        checkIsolated()
        watches.removeAll { $0 === watch }
    }

    /// Ends all watches. Jobs still run.
    package func removeAllWatches() {
        checkIsolated()
        watches = []
    }

    /// Runs `work` on this thread. Can be called from any thread, for example from a cancellation handler.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        enqueue(.closure(work))
    }

    /// Runs `work` on this thread and returns its result. Does not end early if the task is cancelled, because `work` may
    /// have begun. Must not be called after ``stop()``.
    package func call<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            perform { continuation.resume(returning: work()) }
        }
    }

    /// Runs `work` on this thread after `delay`.
    package func perform(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        queue.withLock { $0.add(.init(deadline: .now + delay, work: work)) }
        wakeUp.signal()
    }

    /// Ends the thread when its queue is empty. Nothing may be enqueued after this call.
    package func stop() {
        queue.withLock { $0.isStopping = true }
        wakeUp.signal()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        enqueue(.job(UnownedJob(job)))
    }

    package func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "this may be used only on its own thread")
    }

    package func isIsolatingCurrentContext() -> Bool? {
        identity.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    fileprivate func enqueue(_ work: WorkQueue.Work) {
        let isOwnThread = isIsolatingCurrentContext() == true
        queue.withLock { queue in
            queue.ready.append(work)
            // The loop drains the whole queue at once, so one signal for its first entry is enough. The signal is sent
            // while the lock is held, because the work may release this object as soon as the lock is free.
            if queue.ready.count == 1, !isOwnThread { wakeUp.signal() }
        }
    }

    private func loop() {
        identity.withLock { $0 = pthread_self() }
        // The arrays keep their memory.
        var (ready, items): ([WorkQueue.Work], [pollfd]) = ([], [])
        while runReady(&ready) {
            if !handleWatches() { wait(&items) }
        }
    }

    /// Runs the queued work and the work that it enqueues, but returns after ``passCount`` passes, so that the watches
    /// are asked even if there is always more work.
    /// - Returns: False if the thread should end.
    private func runReady(_ ready: inout [WorkQueue.Work]) -> Bool {
        for _ in 0..<Self.passCount {
            let isStopping = queue.withLock { queue in
                queue.drainReady(now: .now, &ready)
                return queue.isStopping
            }
            if ready.isEmpty { return !isStopping }
            for work in ready {
                switch work {
                case .job(let job):
                    job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
                case .task(let job, let executor): job.runSynchronously(on: executor)
                case .closure(let closure): closure()
                }
            }
            // Not while the queue is locked: a closure may own the last reference to an object that uses the queue.
            ready.removeAll(keepingCapacity: true)
        }
        return true
    }

    /// - Returns: True if a watch had something to do.
    private func handleWatches() -> Bool {
        var wasReady = false
        for watch in watches where watch.handle() { wasReady = true }
        return wasReady
    }

    /// Waits until a descriptor is signalled or there is work.
    private func wait(_ items: inout [pollfd]) {
        items.removeAll(keepingCapacity: true)
        for watch in watches { items.append(watch.pollItem) }
        items.append(pollfd(fd: wakeUp.rawValue, events: Int16(POLLIN), revents: 0))
        // Polling for a while before it sleeps saves a fifth of a round trip on idle cores; beside a busy core the round
        // trip takes twice as long, because a thread that polls uses up its share of the time.
        poll(&items, nfds_t(items.count), Int32(clamping: queue.withLock { $0.timeout(now: .now) }))
        if items[items.count - 1].revents != 0 { wakeUp.drain() }
        for (watch, item) in zip(watches, items) where item.revents != 0 {
            watch.recordSignal()
        }
    }
}

/// An ``ExecutorThread`` as the preference of tasks that belong to no actor.
///
/// If tasks prefer the thread itself, they run as if they were isolated to it: whenever an asynchronous function returns
/// to code without isolation, Swift enqueues the task anew. With this preference the task continues at once.
package final class TaskThread: SerialExecutor, TaskExecutor {
    private let thread: ExecutorThread

    package init(_ thread: ExecutorThread) {
        self.thread = thread
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        thread.enqueue(.task(UnownedJob(job), asUnownedTaskExecutor()))
    }

    /// The executor of actors that use the thread.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
}

/// The queue of jobs and timers of a thread.
struct WorkQueue {
    enum Work {
        case job(UnownedJob)
        case task(UnownedJob, UnownedTaskExecutor)
        case closure(@Sendable () -> Void)
    }

    struct Timer {
        let deadline: ContinuousClock.Instant
        let work: @Sendable () -> Void
    }

    var ready: [Work] = []
    private var timers: [Timer] = []
    /// The deadline of the first timer; nil if there is none.
    private var nextDeadline: ContinuousClock.Instant?
    var isStopping = false

    mutating func add(_ timer: Timer) {
        timers.append(timer)
        nextDeadline = nextDeadline.map { min($0, timer.deadline) } ?? timer.deadline
    }

    /// Moves all work that is ready, and the timers that are due, to `drained`.
    /// - Parameter drained: Must be empty. Its memory is used for the next work.
    mutating func drainReady(now: ContinuousClock.Instant, _ drained: inout [Work]) {
        swap(&ready, &drained)
        if let nextDeadline, nextDeadline <= now {
            drained += timers.filter { $0.deadline <= now }.map { .closure($0.work) }
            timers.removeAll { $0.deadline <= now }
            self.nextDeadline = timers.map(\.deadline).min()
        }
    }

    /// The time until there is work, in milliseconds; -1 if there is no timer.
    func timeout(now: ContinuousClock.Instant) -> Int {
        if !ready.isEmpty || isStopping { return 0 }
        guard let next = nextDeadline else { return -1 }
        let (seconds, attoseconds) = (next - now).components
        return max(0, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000) + 1)
    }
}

/// An eventfd, which wakes a thread that waits in `poll`.
struct EventDescriptor: ~Copyable, Sendable {
    fileprivate let rawValue: Int32

    init() {
        rawValue = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    }

    deinit {
        close(rawValue)
    }

    func signal() {
        var one: UInt64 = 1
        write(rawValue, &one, MemoryLayout<UInt64>.size)
    }

    func drain() {
        var count: UInt64 = 0
        read(rawValue, &count, MemoryLayout<UInt64>.size)
    }
}
