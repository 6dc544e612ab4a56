/// An event in a broker or a steward that is reported to people. It is logged, and published as the message that the
/// configuration makes of it.
package struct BusNotice: Hashable, Sendable {
    package enum Code: String, Sendable {
        /// The journal contains damaged messages, which cannot be delivered; on NATS, no server has a message any more.
        case damaged = "journal.damaged"
        /// The journal has lost messages at its end.
        case lostEnd = "journal.lost-end"
        /// A server lacks messages that other servers have.
        case incompleteReplica = "journal.incomplete"
        /// A server has other messages than the leader.
        case diverged = "journal.diverged"
        /// The journal cannot be written now.
        case unwritable = "journal.unwritable"
        /// The journal can be written again.
        case writable = "journal.writable"
        /// A record of the bus cannot be read, or has impossible values.
        case damagedRecord = "record.damaged"
        /// The journal is nearly full, and a consumer has not handled its oldest messages.
        case consumerBehind = "consumer.behind"
        /// Retention has removed messages that a consumer had not handled.
        case consumerCutOff = "consumer.cut-off"
        /// A durable consumer has had no valid claim for some time, and handles nothing.
        case consumerStalled = "consumer.stalled"
        /// A consumer has so many bytes of dead letters that the oldest ones were removed.
        case deadLettersRemoved = "dead-letters.removed"
        /// Connections or requests were refused because of their keys.
        case accessRefused = "access.refused"
        /// The list of the accepted keys cannot be read, so changes of it have no effect.
        case keysUnreadable = "keys.unreadable"
    }

    package enum Severity: Sendable {
        /// Messages are lost or in danger.
        case error
        case warning
        case information
    }

    package let code: Code
    /// One line for people: what has happened, and where.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var severity: Severity {
        switch code {
        case .damaged, .lostEnd, .incompleteReplica, .diverged, .unwritable, .damagedRecord, .keysUnreadable,
            .deadLettersRemoved:
            .error
        case .consumerBehind, .consumerCutOff, .consumerStalled, .accessRefused: .warning
        case .writable: .information
        }
    }

    /// - Parameter journal: The name of the journal for people.
    package static func cutOff(_ consumer: String, by journal: String) -> BusNotice {
        BusNotice(
            .consumerCutOff,
            "messages that consumer '\(consumer)' had not handled were removed, because the journal \(journal) has "
                + "reached its size limit; the consumer's next claim reports them")
    }
}
