package import EventBus

/// What a broker refuses, with the number that travels.
package struct ProtocolError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Open: a newer broker may send numbers that are not listed here.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Frames that are not the protocol.
        package static let malformed = Code(rawValue: 1)
        /// Another version of the protocol.
        package static let version = Code(rawValue: 2)
        /// An operation this broker does not know.
        package static let operation = Code(rawValue: 3)
        /// Something exceeds ``Limits``.
        package static let tooLarge = Code(rawValue: 4)
        /// A topic that is not `kind.Name.partition`, or not the partition of its subject.
        package static let topic = Code(rawValue: 5)
        /// A batch out of sequence: something before it is missing. The message names the one that is expected.
        package static let sequence = Code(rawValue: 6)
        /// A checkpoint of an owner that is no longer the newest.
        package static let fenced = Code(rawValue: 7)
        /// An offset of a journal that is not this one.
        package static let epoch = Code(rawValue: 8)
        /// The journal cannot be written or read now. Worth another try.
        package static let journal = Code(rawValue: 9)
        /// Nobody serves the query, or who did has gone.
        package static let unserved = Code(rawValue: 10)
        /// The query was not answered in time.
        package static let deadline = Code(rawValue: 11)
        /// Who served the query stopped.
        package static let cancelled = Code(rawValue: 12)
        /// A dead letter that is not, or no longer, there.
        package static let letter = Code(rawValue: 13)
        /// A checkpoint whose predecessor is not recorded: the batch before it was refused.
        package static let unrecorded = Code(rawValue: 14)
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
