internal import CZeroMQ
internal import Foundation
internal import Glibc
internal import Synchronization

/// One thread that owns sockets and runs Swift jobs between looking at them.
///
/// It is an actor's executor and a task executor, so a message goes from the socket to the code that waits for it without
/// changing threads. It waits for its sockets' descriptors and an eventfd. `ZMQ_FD` is edge-triggered (libzmq #3641), so it
/// asks every socket that was used since before it waits.
package final class SocketThread: SerialExecutor, TaskExecutor {
    private let queue = Mutex(WorkQueue())
    private let wakeUp = EventDescriptor()
    private let identity = Mutex<pthread_t?>(nil)
    /// Touched on this thread only: ``add(_:)`` and the loop check that.
    nonisolated(unsafe) private var watches: [SocketWatch] = []

    /// How often what jobs enqueue is run before sockets are looked at.
    private static let passCount = 32

    /// Starts the thread. It runs until ``stop()``.
    package init(name: String) {
        let thread = Thread { self.loop() }
        thread.name = name
        thread.start()
    }

    /// Looks at a socket from now on.
    package func add(_ watch: SocketWatch) {
        checkIsolated()
        watches.append(watch)
    }

    /// Looks at a socket no more. It may be closed then.
    package func remove(_ watch: SocketWatch) {
        checkIsolated()
        watches.removeAll { $0 === watch }
    }

    /// Looks at no socket any more. Jobs still run.
    package func removeAllWatches() {
        checkIsolated()
        watches = []
    }

    /// Runs `work` on this thread, from wherever it is called: what a cancellation handler can do without a task of its own.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        enqueue(.closure(work))
    }

    /// Runs `work` on this thread once `delay` is over.
    package func perform(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        queue.withLock { $0.add(.init(deadline: .now + delay, work: work)) }
        wakeUp.signal()
    }

    /// Ends the thread once its queue is empty. Nothing may be enqueued from then on.
    package func stop() {
        queue.withLock { $0.isStopping = true }
        wakeUp.signal()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        enqueue(.job(UnownedJob(job)))
    }

    package func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "sockets are used on their own thread only")
    }

    package func isIsolatingCurrentContext() -> Bool? {
        identity.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    private func enqueue(_ work: WorkQueue.Work) {
        let isOwnThread = isIsolatingCurrentContext() == true
        queue.withLock { queue in
            queue.ready.append(work)
            // The loop takes the whole queue at once, so one signal for its first entry is enough. It is given within the lock:
            // the runtime does not retain an executor, and as soon as the lock is free the work can run, release the actor, and
            // with it this thread.
            if queue.ready.count == 1, !isOwnThread { wakeUp.signal() }
        }
    }

    private func loop() {
        identity.withLock { $0 = pthread_self() }
        var window = PollingWindow()
        while runReady() {
            if !handleSockets() { wait(&window) }
        }
    }

    /// Runs what is queued, and what that enqueues; but sockets are looked at now and then, however much it is.
    /// - Returns: false when the thread should end.
    private func runReady() -> Bool {
        for _ in 0..<Self.passCount {
            let (ready, isStopping) = queue.withLock { ($0.takeReady(now: .now), $0.isStopping) }
            if ready.isEmpty { return !isStopping }
            for work in ready {
                switch work {
                case .job(let job):
                    job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
                case .closure(let closure): closure()
                }
            }
        }
        return true
    }

    /// Tells the owners of the sockets that are ready.
    /// - Returns: whether any was.
    private func handleSockets() -> Bool {
        var wasReady = false
        for watch in watches where watch.handle() { wasReady = true }
        return wasReady
    }

    /// Waits until a socket has news or there is work.
    private func wait(_ window: inout PollingWindow) {
        var items = watches.map(\.pollItem)
        items.append(pollfd(fd: wakeUp.rawValue, events: Int16(POLLIN), revents: 0))
        let begin = ContinuousClock.now
        let timeout = queue.withLock { $0.timeout(now: begin) }
        if timeout == 0 || !hasNews(of: &items, until: begin + window.length) {
            poll(&items, nfds_t(items.count), Int32(clamping: timeout))
        }
        if timeout != 0 { window.note(.now - begin) }
        if items[items.count - 1].revents != 0 { wakeUp.drain() }
        for (watch, item) in zip(watches, items) where item.revents != 0 {
            watch.noteNews()
        }
    }

    /// Looks for news without sleeping. Whoever else has something to do on this core does it meanwhile.
    private func hasNews(of items: inout [pollfd], until end: ContinuousClock.Instant) -> Bool {
        while ContinuousClock.now < end {
            if poll(&items, nfds_t(items.count), 0) != 0 { return true }
            sched_yield()
        }
        return false
    }
}

/// What a socket thread has to do besides its sockets.
struct WorkQueue {
    enum Work {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    struct Timer {
        let deadline: ContinuousClock.Instant
        let work: @Sendable () -> Void
    }

    var ready: [Work] = []
    private var timers: [Timer] = []
    /// That of the first timer: a thousand queries have a thousand deadlines, and are not searched in every turn.
    private var nextDeadline: ContinuousClock.Instant?
    var isStopping = false

    mutating func add(_ timer: Timer) {
        timers.append(timer)
        nextDeadline = nextDeadline.map { min($0, timer.deadline) } ?? timer.deadline
    }

    /// Takes all that may run now.
    mutating func takeReady(now: ContinuousClock.Instant) -> [Work] {
        var due: [Timer] = []
        if let nextDeadline, nextDeadline <= now {
            due = timers.filter { $0.deadline <= now }
            timers.removeAll { $0.deadline <= now }
            self.nextDeadline = timers.map(\.deadline).min()
        }
        defer { ready.removeAll(keepingCapacity: true) }
        return ready + due.map { .closure($0.work) }
    }

    /// Milliseconds until there is something to do; -1 for ever.
    func timeout(now: ContinuousClock.Instant) -> Int {
        if !ready.isEmpty || isStopping { return 0 }
        guard let next = nextDeadline else { return -1 }
        return max(0, Int((next - now) / .milliseconds(1)) + 1)
    }
}

/// How long a thread looks for news before it sleeps.
///
/// To wake a thread that sleeps takes longer than to handle most messages: its core has to leave an idle state, in a virtual
/// machine through the hypervisor. Where messages follow each other closely, as a command and its answer do, it pays to look
/// for the next one. The rule is that of Linux's guest halt polling (Documentation/virt/guest-halt-polling.rst): the window
/// grows while news comes within it or a little later, and shrinks when news takes long. A bus that is idle, or waits for
/// people, does not poll.
struct PollingWindow {
    private(set) var length = Duration.zero
    private let maximum: Duration

    /// What it opens with.
    static let first = Duration.microseconds(50)

    /// - Parameter maximum: zero keeps it closed.
    init(maximum: Duration = Self.defaultMaximum) {
        self.maximum = maximum
    }

    /// An answer's usual time, and some. On a single core whoever has the news to send could not run meanwhile.
    private static let defaultMaximum =
        ProcessInfo.processInfo.activeProcessorCount > 1 ? Duration.microseconds(400) : .zero

    /// - Parameter wait: how long it was until there was news.
    mutating func note(_ wait: Duration) {
        guard wait > length else { return }
        if wait <= maximum {
            length = min(max(length * 2, Self.first), maximum)
        } else {
            length = length / 2 < Self.first ? .zero : length / 2
        }
    }
}

/// An eventfd: what wakes a thread that polls.
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
