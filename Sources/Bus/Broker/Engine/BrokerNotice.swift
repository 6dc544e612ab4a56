/// Something that people should know of the broker, and not only its log.
package struct BrokerNotice: Hashable, Sendable {
    package enum Code: String, Sendable, CaseIterable {
        /// Messages have a wrong checksum: they are never delivered.
        case damaged = "journal.damaged"
        /// The journal ended before what had been read of it: what was behind is gone.
        case lostEnd = "journal.lost-end"
        /// Nothing can be journalled now.
        case unwritable = "journal.unwritable"
        /// It can again.
        case writable = "journal.writable"
        /// The journal is nearly full, and this consumer has not handled its oldest messages.
        case consumerBehind = "consumer.behind"
        /// Messages were removed that this consumer had not handled.
        case consumerCutOff = "consumer.cut-off"
    }

    package let code: Code
    /// One line: what is wrong, where, and what to do.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
