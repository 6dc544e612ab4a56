/// An error of a bus.
public struct BusError: Error, Hashable, Sendable {
    /// A stable identifier for programs.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// No broker answers at the address in time.
        public static let unavailable = Code(rawValue: "bus.unavailable")
        /// The address of the bus cannot be used.
        public static let address = Code(rawValue: "bus.address")
        /// The key file of this process, or the folder of the broker's keys, cannot be used.
        public static let key = Code(rawValue: "bus.key")
        /// The broker does not accept the key of this process: it is unknown, revoked or expired.
        public static let denied = Code(rawValue: "bus.denied")
        /// The key of this process does not allow the request. ``BusError/message`` says what to change.
        public static let forbidden = Code(rawValue: "bus.forbidden")
        /// A message cannot be written or read, because its topic, header or data is invalid.
        public static let malformed = Code(rawValue: "bus.malformed")
        /// The bus refuses the request. ``BusError/message`` gives the reason.
        public static let refused = Code(rawValue: "bus.refused")
        /// The claim is no longer valid, usually because another process has taken over the durable consumer.
        public static let fenced = Code(rawValue: "bus.fenced")
        /// A position or a claim is not valid in the journal: it belongs to another journal, or the journal ends before
        /// it.
        public static let epoch = Code(rawValue: "bus.epoch")
        /// The journal cannot be opened, written or read, or another broker uses it.
        public static let journal = Code(rawValue: "bus.journal")
        /// No process can accept the query now, or the process that accepted it has ended.
        public static let unserved = Code(rawValue: "bus.unserved")
        /// No answer to the query came in time.
        public static let deadline = Code(rawValue: "bus.deadline")
        /// The process that served the query stopped serving it, or could not answer.
        public static let cancelled = Code(rawValue: "bus.cancelled")
        /// The message that is to become a dead letter, or the dead letter that is to be removed, does not exist.
        public static let deadLetter = Code(rawValue: "bus.letter")
        /// The previous checkpoint of the partition is not recorded.
        public static let unrecorded = Code(rawValue: "bus.unrecorded")
        /// This process has closed the bus, has ended the subscription, or has called `run()` twice.
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
