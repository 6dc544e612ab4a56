/// What a bus could not do, and why.
public struct BusError: Error, Hashable, Sendable {
    /// A stable name for a program to act upon. Open: a newer broker may send codes that are not listed here.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Nobody answers at the address, or not in time.
        public static let unavailable = Code(rawValue: "bus.unavailable")
        /// The address of the bus cannot be used.
        public static let address = Code(rawValue: "bus.address")
        /// The message is not what its type promises.
        public static let malformed = Code(rawValue: "bus.malformed")
        /// The broker does not accept the request.
        public static let refused = Code(rawValue: "bus.refused")
        /// Another process owns the durable consumer now.
        public static let fenced = Code(rawValue: "bus.fenced")
        /// The position belongs to a journal that no longer exists.
        public static let epoch = Code(rawValue: "bus.epoch")
        /// The journal cannot be written or read.
        public static let journal = Code(rawValue: "bus.journal")
        /// No process serves the query, or the one that did has gone.
        public static let unserved = Code(rawValue: "bus.unserved")
        /// No answer came in time.
        public static let deadline = Code(rawValue: "bus.deadline")
        /// Whoever served the query stopped before it had answered.
        public static let cancelled = Code(rawValue: "bus.cancelled")
        /// What would become a dead letter, or is to be removed as one, is no longer there.
        public static let letter = Code(rawValue: "bus.letter")
        /// The checkpoint that a checkpoint follows is not recorded: a batch before this one was refused.
        public static let unrecorded = Code(rawValue: "bus.unrecorded")
        /// The connection was closed by its owner.
        public static let closed = Code(rawValue: "bus.closed")
    }

    public let code: Code
    /// One line: what is wrong, and where.
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
