internal import EventBus
package import Foundation
internal import Support

/// A part of a recording, from one moment to another, both included.
package struct RecordingStretch: Hashable, Sendable {
    private let start: RecordingMoment?
    private let end: RecordingMoment?
    private var first: Date?
    private var hasBegun: Bool
    private var hasEnded = false

    /// - Parameters:
    ///   - start: The first moment. Nil for the beginning of the recording.
    ///   - end: The last moment. Nil for the end of the recording.
    package init(from start: RecordingMoment? = nil, until end: RecordingMoment? = nil) {
        self.start = start
        self.end = end
        hasBegun = start == nil
    }

    /// The place of a message relative to a stretch.
    package enum Place: Sendable {
        case before, inside
        /// The last message of the stretch.
        case last
        /// After the stretch.
        case behind
    }

    /// The place of the next message of the recording. Must be called for each message, in order.
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

    /// The moment that was not found: the start, or an end that is an id. Nil if there is no such moment. Read it after
    /// the last message.
    package var missing: RecordingMoment? {
        if !hasBegun { return start }
        if case .id? = end, !hasEnded { return end }
        return nil
    }
}

extension RecordingMoment {
    /// The maximum difference between equal times, in seconds: half a millisecond.
    private static let tolerance = 0.000_5

    /// True if the message is at this moment or after it.
    fileprivate func isReached(by recorded: RecordedMessage, began: Date) -> Bool {
        isExact(recorded) || isPassed(by: recorded, began: began) || isAt(recorded, began: began)
    }

    /// True if the message is after this moment.
    fileprivate func isPassed(by recorded: RecordedMessage, began: Date) -> Bool {
        switch self {
        case .number(let number): recorded.number > number
        case .offset(let offset): recorded.message.position?.offset ?? 0 > offset
        case .time, .elapsed: distance(to: recorded, began: began) > Self.tolerance
        case .id: false
        }
    }

    /// True if the moment names this message. False for a time.
    fileprivate func isExact(_ recorded: RecordedMessage) -> Bool {
        switch self {
        case .number(let number): recorded.number == number
        case .offset(let offset): recorded.message.position?.offset == offset
        case .id(let id): recorded.message.id.begins(with: id)
        case .time, .elapsed: false
        }
    }

    private func isAt(_ recorded: RecordedMessage, began: Date) -> Bool {
        abs(distance(to: recorded, began: began)) <= Self.tolerance
    }

    /// The seconds from this moment to the message; infinite if the moment is a number, an offset or an id.
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
    /// The message with this number, from 1.
    case number(Int)
    /// The message with this offset in its journal.
    case offset(UInt64)
    case time(Date)
    /// The time of the first message plus this duration.
    case elapsed(Duration)
    /// The first message whose id is this string or begins with it.
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
