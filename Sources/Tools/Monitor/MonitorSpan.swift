internal import EventBus
package import Foundation

/// From where to where a monitor reads, in the journal of the moment.
struct MonitorSpan: Sendable {
    let start: StartPosition
    /// `nil` for no end in the journal.
    private(set) var end: Position?
    /// `nil` for no end by the clock.
    private(set) var deadline: ContinuousClock.Instant?
    /// The journal's end when this was made.
    let now: Position
    /// Messages that were published later are left out.
    private var lastTime: Date?

    /// - Throws: ``BusError``.
    init(start: MonitorStart, end: MonitorEnd, duration: Duration?, on bus: any EventBus) async throws {
        // A batch of nothing changes nothing, and is answered with the journal's end.
        now = try await bus.publish(Batch([]))
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

    /// What is in the journal now, of a time that is past; else whatever comes until then.
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

/// Where a monitor begins.
package enum MonitorStart: Hashable, Sendable {
    /// With what is published from now on.
    case now
    /// With the first message that the journal holds.
    case beginning
    /// With the last of each document.
    case retained
    /// With the last message of each type.
    case last
    /// With the message at this offset of the journal.
    case offset(UInt64)
    /// With what was journalled at this time or later.
    case time(Date)
    /// With what was journalled so long ago.
    case ago(Duration)
}

/// Behind what a monitor ends by itself.
package enum MonitorEnd: Hashable, Sendable {
    case never
    /// The newest message that the journal has when the monitor begins.
    case end
    /// The message at this offset of the journal.
    case offset(UInt64)
    /// What was published up to this time.
    case time(Date)
    /// What was published up to so long ago.
    case ago(Duration)
}
