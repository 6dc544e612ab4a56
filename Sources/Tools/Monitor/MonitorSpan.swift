internal import EventBus
package import Foundation

/// The part of the current journal that a monitor reads.
struct MonitorSpan: Sendable {
    let start: StartPosition
    /// The last position to read. Nil if there is none.
    private(set) var end: Position?
    /// The instant at which the monitor ends. Nil if there is none.
    private(set) var deadline: ContinuousClock.Instant?
    /// The end of the journal when the span was created.
    let now: Position
    /// The latest publishing time of a message to show. Messages that were published later are left out. Nil for no
    /// limit.
    private var lastTime: Date?

    /// - Throws: ``BusError``, with the code `refused` if the start is an offset beyond the next message.
    init(start: MonitorStart, end: MonitorEnd, duration: Duration?, on bus: EventBus) async throws {
        now = try await bus.inspect.end()
        if case .offset(let offset) = start, offset > now.offset + 1 {
            throw BusError(.refused, "there is no message at offset \(offset) yet: the journal ends at \(now.offset)")
        }
        self.start =
            switch start {
            case .now: .now
            case .beginning, .offset(0): .beginning
            case .retained: .retained
            case .last: .after(now)
            case .offset(let offset): .after(Position(epoch: now.epoch, offset: offset - 1))
            case .time(let time): .since(time)
            case .ago(let duration): .since(Date(ago: duration))
            }
        deadline = duration.map { .now + $0 }
        switch end {
        case .never: break
        case .end: self.end = now
        case .offset(let offset): self.end = Position(epoch: now.epoch, offset: offset)
        case .time(let time): setEnd(time)
        case .ago(let duration): setEnd(Date(ago: duration))
        }
    }

    /// Ends the span at a time. If the time has passed, the span ends at the current end of the journal; otherwise the
    /// span gets a deadline.
    private mutating func setEnd(_ time: Date) {
        lastTime = time
        let left = time.timeIntervalSinceNow
        if left <= 0 {
            end = now
        } else {
            let instant = ContinuousClock.now + .seconds(left)
            deadline = deadline.map { min($0, instant) } ?? instant
        }
    }

    func contains(_ message: Envelope) -> Bool {
        lastTime.map { message.attributes.time <= $0 } ?? true
    }
}

extension Date {
    fileprivate init(ago duration: Duration) {
        self.init(timeIntervalSinceNow: -(duration / .seconds(1)))
    }
}

/// The first message that a monitor shows.
package enum MonitorStart: Hashable, Sendable {
    /// The next message that is published.
    case now
    /// The oldest message in the journal.
    case beginning
    /// The retained documents, then the messages that are published from now on.
    case retained
    /// The last message of each type, then the messages that are published from now on.
    case last
    /// The message at this offset of the journal.
    case offset(UInt64)
    /// The first message that was journalled at this time or later.
    case time(Date)
    /// The first message that was journalled at most this duration ago.
    case ago(Duration)
}

/// The last message that a monitor shows.
package enum MonitorEnd: Hashable, Sendable {
    /// The monitor does not end by itself.
    case never
    /// The newest message in the journal when the monitor starts.
    case end
    /// The message at this offset of the journal.
    case offset(UInt64)
    /// The last message that was published at this time or earlier.
    case time(Date)
    /// The last message that was published at least this duration ago.
    case ago(Duration)
}
