internal import EventBus
package import Foundation
internal import Support

/// A part of a recording: from one moment up to another, both included.
package struct RecordingStretch: Hashable, Sendable {
    private let start: RecordingMoment?
    private let end: RecordingMoment?
    private var first: Date?
    private var hasBegun: Bool
    private var hasEnded = false

    /// nil for the recording's own beginning, or end.
    package init(from start: RecordingMoment? = nil, until end: RecordingMoment? = nil) {
        self.start = start
        self.end = end
        hasBegun = start == nil
    }

    package enum Place: Sendable {
        case before, inside
        /// With it the stretch ends.
        case last
        case behind
    }

    /// Where the next message of the recording stands.
    package mutating func place(of recorded: RecordedMessage) -> Place {
        let began = first ?? recorded.message.attributes.time
        first = began
        if hasEnded { return .behind }
        if !hasBegun {
            guard let start, start.isReached(by: recorded, began: began) else { return .before }
            hasBegun = true
        }
        guard let end else { return .inside }
        let isLast = end.isExact(recorded)
        hasEnded = isLast || end.isPassed(by: recorded, began: began)
        return isLast ? .last : hasEnded ? .behind : .inside
    }

    /// The moment that the recording does not have, once all of it was read.
    package var missing: RecordingMoment? {
        if !hasBegun { return start }
        if case .id? = end, !hasEnded { return end }
        return nil
    }
}

extension RecordingMoment {
    /// Times are written in milliseconds, and as numbers they are not exact.
    private static let tolerance = 0.000_5

    /// Whether the message is at this moment or behind it.
    fileprivate func isReached(by recorded: RecordedMessage, began: Date) -> Bool {
        isExact(recorded) || isPassed(by: recorded, began: began) || isAt(recorded, began: began)
    }

    /// Whether the message is behind this moment.
    fileprivate func isPassed(by recorded: RecordedMessage, began: Date) -> Bool {
        switch self {
        case .number(let number): recorded.number > number
        case .offset(let offset): recorded.message.position?.offset ?? 0 > offset
        case .time, .elapsed: distance(to: recorded, began: began) > Self.tolerance
        case .id: false
        }
    }

    /// Whether the message is the only one at this moment.
    fileprivate func isExact(_ recorded: RecordedMessage) -> Bool {
        switch self {
        case .number(let number): recorded.number == number
        case .offset(let offset): recorded.message.position?.offset == offset
        case .id(let id): recorded.message.id.hasPrefix(id)
        case .time, .elapsed: false
        }
    }

    private func isAt(_ recorded: RecordedMessage, began: Date) -> Bool {
        abs(distance(to: recorded, began: began)) <= Self.tolerance
    }

    /// In seconds; infinite for a moment that is not one of time.
    private func distance(to recorded: RecordedMessage, began: Date) -> Double {
        let time = recorded.message.attributes.time
        return switch self {
        case .time(let date): time.timeIntervalSince(date)
        case .elapsed(let duration): time.timeIntervalSince(began) - duration / .seconds(1)
        case .number, .offset, .id: .infinity
        }
    }
}

/// A place in a recording.
package enum RecordingMoment: Hashable, Sendable {
    /// The message of this number, from 1.
    case number(Int)
    /// What stood at this offset of its journal.
    case offset(UInt64)
    case time(Date)
    /// So long after the first message.
    case elapsed(Duration)
    /// The first message whose id is this one or begins so.
    case id(String)
}

extension RecordingMoment: CustomStringConvertible {
    package var description: String {
        switch self {
        case .number(let number): "\(number)"
        case .offset(let offset): "@\(offset)"
        case .time(let date): Timestamp.text(of: date)
        case .elapsed(let duration): duration.optionText
        case .id(let id): id
        }
    }
}
