package import EventBus

/// An error of the protocol. If the broker refuses a request, its reply contains the code and the message.
package struct ProtocolError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason for a refusal. A newer broker may send values that are not listed here.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The request violates the protocol, a name in it has a zero byte or is not in Unicode Normalization Form C,
        /// or the consumer to forget is or may be in use.
        package static let malformed = Code(rawValue: 1)
        /// The request has another version of the protocol.
        package static let version = Code(rawValue: 2)
        /// The broker does not know the operation, or clients may not send it.
        package static let operation = Code(rawValue: 3)
        /// A size or a number is not within the ``Limits``, or exceeds a limit of the broker.
        package static let tooLarge = Code(rawValue: 4)
        /// A topic, type or filter is invalid, the partition of a topic is not that of its subject, or the request does
        /// not allow the kind.
        package static let topic = Code(rawValue: 5)
        /// An earlier batch is missing. ``ProtocolError/message`` names the expected sequence.
        package static let sequence = Code(rawValue: 6)
        /// The claim is no longer valid, usually because another member of the durable consumer has taken over.
        package static let fenced = Code(rawValue: 7)
        /// The offset belongs to another journal, or is beyond the end of this one.
        package static let epoch = Code(rawValue: 8)
        /// The journal cannot be written or read now. The request can succeed later.
        package static let journal = Code(rawValue: 9)
        /// No process can accept the query now, or the process that accepted it has ended.
        package static let unserved = Code(rawValue: 10)
        /// The query was not answered in time.
        package static let deadline = Code(rawValue: 11)
        /// The process that served the query stopped serving it, or could not answer.
        package static let cancelled = Code(rawValue: 12)
        /// The dead letter that is to be removed, or the message that is to become one, does not exist.
        package static let deadLetter = Code(rawValue: 13)
        /// The previous checkpoint of the partition is not recorded.
        package static let unrecorded = Code(rawValue: 14)
        /// The bus does not accept the key of the client.
        package static let denied = Code(rawValue: 15)
        /// The key of the client does not allow the request.
        package static let forbidden = Code(rawValue: 16)
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

extension ProtocolError {
    package init(_ refusal: LedgerRefusal) {
        let code: Code =
            switch refusal.reason {
            case .epoch: .epoch
            case .fenced: .fenced
            case .unrecorded: .unrecorded
            case .full: .tooLarge
            case .inUse: .malformed
            }
        self.init(code, refusal.message)
    }

    package init(_ mistake: Mistake) {
        let code: Code =
            switch mistake.kind {
            case .malformed: .malformed
            case .tooLarge: .tooLarge
            case .type: .topic
            }
        self.init(code, mistake.message)
    }
}
