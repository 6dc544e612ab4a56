/// An error of a bus.
public struct BusError: Error, Hashable, Sendable {
    /// A stable identifier for programs. A newer broker may send codes that are not listed here.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// No broker answers at the address in time.
        public static let unavailable = Code(rawValue: "bus.unavailable")
        /// The address of the bus cannot be used.
        public static let address = Code(rawValue: "bus.address")
        /// The message does not match its type.
        public static let malformed = Code(rawValue: "bus.malformed")
        /// The bus refuses the request because it is invalid.
        public static let refused = Code(rawValue: "bus.refused")
        /// Another process owns the durable consumer now.
        public static let fenced = Code(rawValue: "bus.fenced")
        /// The position is not in this journal: it belongs to another journal, or is beyond the end.
        public static let epoch = Code(rawValue: "bus.epoch")
        /// The journal cannot be written or read.
        public static let journal = Code(rawValue: "bus.journal")
        /// No process serves the query, or the process that served it has ended.
        public static let unserved = Code(rawValue: "bus.unserved")
        /// No answer to the query came in time.
        public static let deadline = Code(rawValue: "bus.deadline")
        /// The process that served the query stopped, or could not answer.
        public static let cancelled = Code(rawValue: "bus.cancelled")
        /// The message that is to become a dead letter, or the dead letter that is to be removed, does not exist.
        public static let letter = Code(rawValue: "bus.letter")
        /// The checkpoint before this one in its partition is not recorded: the batch that contained it was refused.
        public static let unrecorded = Code(rawValue: "bus.unrecorded")
        /// This process has closed the bus or ended the subscription.
        public static let closed = Code(rawValue: "bus.closed")
    }

    public let code: Code
    /// One line that says what is wrong and where.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension BusError: CustomStringConvertible {
    public var description: String { message }
}

extension BusError {
    package init(_ mistake: Mistake) {
        self.init(.refused, mistake.message)
    }

    static let runEnded = BusError(.closed, "the bus was closed: its run() has ended")
}
