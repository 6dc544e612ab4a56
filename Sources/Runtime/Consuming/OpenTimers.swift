internal import Contracts
package import EventBus
package import Foundation
internal import HeapModule
internal import Support
internal import Synchronization

/// A timer of a durable consumer, which a document records.
package struct DurableTimer: Sendable {
    /// The moment at which a timer is due.
    fileprivate enum Moment: Sendable {
        case at(Date)
        /// The time of ``ServiceClock/elapsed``.
        case elapsed(Duration)
    }

    /// The name of the document that records the timer.
    package let id: DocumentName
    fileprivate let moment: Moment
}

/// The partitions that belong to a process, and the open timers of their sessions.
///
/// The loop of the consumer fires a timer as a step of its partition: it reads the document, and publishes the messages
/// of the timer in a batch that the claim fences. So a timer cannot fire after the results of a handler that has closed
/// it, and a process that has lost the partition fires none.
package final class OpenTimers: Sendable {
    /// A timer that was due. If the timer is closed and opened again, it gets another number.
    package final class DueTimer: Sendable {
        let id: DocumentName
        fileprivate let number: Int

        fileprivate init(id: DocumentName, number: Int) {
            self.id = id
            self.number = number
        }

        /// True if both are the same opening of the same timer.
        func isSame(as other: DueTimer) -> Bool { number == other.number && id == other.id }

        var partition: Partition { Partition(subject: id.subject) }
    }

    private struct Open {
        let number: Int
        let moment: DurableTimer.Moment
        /// True if the timer has fired and waits for the result that closes it.
        var hasFired = false

        /// True if both have a date, and not the same: the reply to the batch that changed it may have been lost.
        func differs(from timer: DurableTimer) -> Bool {
            if case .at(let date) = moment, case .at(let other) = timer.moment { return date != other }
            return false
        }
    }

    private struct Entry<Time: Comparable>: Comparable {
        let time: Time
        let timer: DueTimer

        static func < (left: Self, right: Self) -> Bool { left.time < right.time }
        static func == (left: Self, right: Self) -> Bool { left.time == right.time }
    }

    private struct State {
        var partitions: Set<Partition> = []
        /// The open timers, by session.
        var open: [String: [DocumentName: Open]] = [:]
        /// The number of timers that have been opened.
        var count = 0
        /// The timers that were closed since the recorded ones are being read. Nil while they are not read.
        var closedMeanwhile: Set<DocumentName>?
        /// The timers that may be due next. Entries of closed timers stay until they are due.
        var dates = Heap<Entry<Date>>()
        var delays = Heap<Entry<Duration>>()
        /// Signalled when the earliest moment may have changed.
        var change = Latch()

        /// The open timer that a document records; nil if it is closed.
        subscript(id: DocumentName) -> Open? {
            get { open[id.subject]?[id] }
            set {
                open[id.subject, default: [:]][id] = newValue
                if open[id.subject]?.isEmpty == true { open[id.subject] = nil }
            }
        }

        mutating func open(_ timer: DurableTimer) {
            guard self[timer.id] == nil else { return }
            count += 1
            self[timer.id] = Open(number: count, moment: timer.moment)
            push(timer.id, number: count, moment: timer.moment)
        }

        mutating func close(_ id: DocumentName) {
            self[id] = nil
            closedMeanwhile?.insert(id)
        }

        /// Opens the recorded timers, unless they were closed since the reading began. Closes those that are not
        /// recorded, unless they were opened since then.
        /// - Parameter last: The number of the last timer that was opened before the reading.
        mutating func adopt(_ recorded: [DurableTimer], openedBefore last: Int) {
            let ids = Set(recorded.map(\.id))
            let known = open.values.flatMap(\.self)
            for (id, timer) in known where timer.number <= last && !ids.contains(id) { close(id) }
            let closed = closedMeanwhile ?? []
            var openCount = open.values.reduce(0) { $0 + $1.count }
            for timer in recorded where !closed.contains(timer.id) {
                if let known = self[timer.id] {
                    guard known.number <= last, known.differs(from: timer) else { continue }
                    close(timer.id)
                    open(timer)
                } else if openCount < OpenTimers.maximum {
                    openCount += 1
                    open(timer)
                }
            }
        }

        private mutating func push(_ id: DocumentName, number: Int, moment: DurableTimer.Moment) {
            let timer = DueTimer(id: id, number: number)
            let isFirst: Bool
            switch moment {
            case .at(let date):
                isFirst = dates.min.map { date < $0.time } ?? true
                dates.insert(Entry(time: date, timer: timer))
            case .elapsed(let time):
                isFirst = delays.min.map { time < $0.time } ?? true
                delays.insert(Entry(time: time, timer: timer))
            }
            if isFirst { change.open() }
        }

        /// Makes the heaps anew from the open timers.
        mutating func rebuild() {
            (dates, delays) = (Heap(), Heap())
            for (id, timer) in open.values.joined() where !timer.hasFired {
                push(id, number: timer.number, moment: timer.moment)
            }
        }

        func isOpen(_ timer: DueTimer) -> Bool {
            guard let open = self[timer.id] else { return false }
            return open.number == timer.number && !open.hasFired
        }

        /// Dequeues the timers that are due from one of the heaps. Entries of closed timers that come first are
        /// removed, too.
        mutating func popDue<Time>(from heap: WritableKeyPath<Self, Heap<Entry<Time>>>, until now: Time) -> [DueTimer] {
            var due: [DueTimer] = []
            while let first = self[keyPath: heap].min, first.time <= now || !isOpen(first.timer) {
                self[keyPath: heap].removeMin()
                if isOpen(first.timer) { due.append(first.timer) }
            }
            return due
        }
    }

    /// The maximum number of timers that are read when partitions are adopted. Handlers schedule fewer; a stranger
    /// could publish any number of documents.
    private static let maximum = 1_000_000
    /// The maximum time between two comparisons with the date, which may be set while a timer waits for it.
    private static let longestWait: Duration = .seconds(60)

    private let state = Mutex(State())
    private let clock: ServiceClock
    /// Returns the messages of a timer whose document is given. If one of them withdraws the document, the timer ends.
    let messages: @Sendable (_ document: Envelope) throws -> [Envelope]

    package init(
        clock: ServiceClock = .system, messages: @escaping @Sendable (_ document: Envelope) throws -> [Envelope]
    ) {
        self.clock = clock
        self.messages = messages
    }

    // MARK: Opening and closing

    /// A timer that is due at a time, or at once if the time has passed.
    package func timer(_ id: DocumentName, at date: Date) -> DurableTimer { DurableTimer(id: id, moment: .at(date)) }

    /// A timer that is due after a delay. The delay begins with this call, and again each time a process gets the
    /// timer's partition.
    package func timer(_ id: DocumentName, after delay: Duration) -> DurableTimer {
        DurableTimer(id: id, moment: .elapsed(clock.elapsed() + delay))
    }

    /// Opens timers that are not open yet. Those in `closed` are closed first, so a timer in both is opened anew.
    package func apply(opened: [DurableTimer], closed: some Sequence<DocumentName>) {
        state.withLock { state in
            for id in closed { state.close(id) }
            for timer in opened { state.open(timer) }
        }
    }

    /// Adopts partitions in place of the former ones. Closes the timers of all other partitions, and those that are no
    /// longer recorded: the reply to the batch that withdrew them may have been lost.
    ///
    /// The results of a partition that stays can be recorded at the same time. So a timer that was opened since the
    /// reading began stays open, and one that was closed since then stays closed.
    /// - Parameters:
    ///   - new: the partitions that were lost, or have to be read anew. Their timers are opened anew.
    ///   - read: returns the recorded timers of the partitions.
    package func adopt(
        _ partitions: Set<Partition>, new: Set<Partition>, _ read: () async throws -> [DurableTimer]
    ) async throws {
        let kept = partitions.subtracting(new)
        let last = state.withLock { state in
            state.open = state.open.filter { kept.contains(Partition(subject: $0.key)) }
            state.partitions = partitions
            state.closedMeanwhile = []
            return state.count
        }
        defer { state.withLock { $0.closedMeanwhile = nil } }
        let recorded = try await read()
        state.withLock { $0.adopt(recorded, openedBefore: last) }
    }

    package func isOwn(_ partition: Partition) -> Bool { state.withLock { $0.partitions.contains(partition) } }

    /// The documents of the open timers of a session.
    package func documents(of session: String) -> Set<DocumentName> {
        state.withLock { Set($0.open[session]?.keys.map(\.self) ?? []) }
    }

    // MARK: Firing

    /// Waits until timers are due, and returns them. Each is returned once, until ``renew()``.
    func due() async throws -> [DueTimer] {
        while true {
            // A time between the two readings makes the wait shorter, not longer.
            let elapsed = clock.elapsed()
            let now = clock.now()
            let (due, wait, change) = state.withLock { state in
                let due = state.popDue(from: \.dates, until: now) + state.popDue(from: \.delays, until: elapsed)
                let date = state.dates.min.map { Self.wait(from: now, until: $0.time) }
                let waits = [date, state.delays.min.map { $0.time - elapsed }].compactMap(\.self)
                state.change = Latch()
                return (due, waits.min().map { min($0, Self.longestWait) }, state.change)
            }
            guard due.isEmpty else { return due }
            try await withThrowingTaskGroup { group in
                group.addTask { try await change.waitUntilOpen() }
                if let wait { group.addTask { [clock] in try await clock.sleepUntil(elapsed + wait) } }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// The time from one date to a later one, at most ``longestWait``. The difference of two dates has an error of a
    /// fraction of a microsecond, by which a wait must not be longer.
    private static func wait(from now: Date, until time: Date) -> Duration {
        let seconds = min(max(0, time.timeIntervalSince(now)), longestWait / .seconds(1))
        return .microseconds(Int64((seconds * 1_000_000).rounded()))
    }

    /// Makes ``due()`` return the open timers again that it has returned already: the loop has dropped their
    /// partitions.
    func renew() { state.withLock { $0.rebuild() } }

    func isOpen(_ timer: DueTimer) -> Bool { state.withLock { $0.isOpen(timer) } }

    /// Records that the messages of a timer are recorded, or that its document has gone.
    /// - Parameter hasEnded: false if a later result closes the timer.
    func fired(_ timer: DueTimer, hasEnded: Bool) {
        state.withLock { state in
            guard state.isOpen(timer) else { return }
            if hasEnded { state.close(timer.id) } else { state[timer.id]?.hasFired = true }
        }
    }
}
