internal import CZeroMQ
internal import Foundation
internal import Synchronization

/// One thread that owns sockets and runs Swift jobs between looking at them.
///
/// It is an actor's executor and a task executor, so a message goes from the socket to the code that waits for it without
/// changing threads. It polls its sockets and an eventfd: `ZMQ_FD` is edge-triggered and loses wake-ups (libzmq #3641).
package final class SocketThread: SerialExecutor, TaskExecutor {
    private let queue = Mutex(WorkQueue())
    private let wakeUp = EventDescriptor()
    private let identity = Mutex<pthread_t?>(nil)
    /// Touched on this thread only: ``add(_:)`` and the loop check that.
    nonisolated(unsafe) private var watches: [SocketWatch] = []

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
        queue.withLock { $0.timers.append(.init(deadline: .now + delay, work: work)) }
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
        let wasEmpty = queue.withLock { queue in
            queue.ready.append(work)
            return queue.ready.count == 1
        }
        // The loop takes the whole queue at once, so one signal for its first entry is enough.
        if wasEmpty, isIsolatingCurrentContext() != true {
            wakeUp.signal()
        }
    }

    private func loop() {
        identity.withLock { $0 = pthread_self() }
        while runReady() {
            poll()
        }
    }

    /// Runs what is queued; what that enqueues waits for the next turn, so that sockets are looked at in between.
    /// - Returns: false when the thread should end.
    private func runReady() -> Bool {
        let (ready, isStopping) = queue.withLock { ($0.takeReady(now: .now), $0.isStopping) }
        for work in ready {
            switch work {
            case .job(let job):
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            case .closure(let closure): closure()
            }
        }
        return !(isStopping && ready.isEmpty)
    }

    /// Waits until a socket is ready or there is work, and tells the sockets' owners.
    private func poll() {
        var items = watches.map(\.pollItem)
        items.append(zmq_pollitem_t(socket: nil, fd: wakeUp.rawValue, events: Int16(ZMQ_POLLIN), revents: 0))
        let timeout = queue.withLock { $0.timeout(now: .now) }
        zmq_poll(&items, Int32(items.count), timeout)
        if items[items.count - 1].revents != 0 { wakeUp.drain() }
        for (watch, item) in zip(watches, items) {
            watch.handle(item.revents)
        }
    }
}
