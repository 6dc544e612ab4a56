public import Foundation

/// One instance of a durable consumer, and how it gets along with others of the same name.
public struct ConsumerMember: Hashable, Sendable {
    public enum Mode: Hashable, Sendable {
        /// The newest instance owns everything; the one before is fenced. The newest is the one whose first claim reached
        /// the bus last, also if its process is older.
        case exclusive
        /// The instances that are alive share the partitions.
        case shared
    }

    /// Made once an instance. A claim that is repeated with the same id gets the same answer.
    public let id: UUID
    public let mode: Mode

    public init(_ mode: Mode, id: UUID = UUID()) {
        self.id = id
        self.mode = mode
    }

    public static var exclusive: ConsumerMember { ConsumerMember(.exclusive) }
    public static var shared: ConsumerMember { ConsumerMember(.shared) }
}
