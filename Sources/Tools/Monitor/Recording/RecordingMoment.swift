internal import EventBus
package import Foundation

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
        case .elapsed(let duration): "\(duration / .seconds(1))s"
        case .id(let id): id
        }
    }
}
