internal import Foundation
internal import Support

/// The rules for messages and names: for the bus in memory, the client of a broker, and the broker.
package enum Rules {
    package static func check(_ type: MessageType, subject: String) throws(Mistake) {
        guard type.isValid else {
            throw Mistake(
                .type,
                "'\(type.description.prefix(80))' is not a message type; its name must begin with a letter and have only "
                    + "letters, digits, '_' and '-'; a type has at most \(MessageType.maximumLength) bytes")
        }
        try checkName(subject, "the subject of \(type)")
    }

    /// Checks the parts that differ between messages of one type and subject: the key and the sizes in bytes.
    package static func check(
        _ type: MessageType, key: String, headerCount: Int, dataCount: Int
    ) throws(Mistake) {
        try checkName(key, "the key of \(type)")
        guard headerCount <= Limits.headerSize, dataCount <= Limits.dataSize else {
            throw Mistake(
                .tooLarge, "\(type) exceeds \(Limits.headerSize) bytes of header or \(Limits.dataSize) bytes of data")
        }
    }

    /// Checks the attributes that only clients check.
    package static func check(_ attributes: Attributes) throws(Mistake) {
        for field in HeaderField.all { try field.check(attributes) }
    }

    /// Checks that messages of a type can be published.
    package static func checkPublishing(_ type: MessageType) throws(Mistake) {
        guard type.kind != .query else {
            throw Mistake(.type, "\(type) is a query and cannot be published; ask it instead")
        }
    }

    /// Checks that a message may be transient: the journal does not contain it, so the feed carries it whole.
    package static func checkTransient(_ type: MessageType, headerCount: Int, dataCount: Int) throws(Mistake) {
        guard type.kind != .document else {
            throw Mistake(.type, "\(type) cannot be transient because documents are retained")
        }
        guard headerCount + dataCount <= Limits.feedSize else {
            throw Mistake(.tooLarge, "\(type) exceeds \(Limits.feedSize) bytes, the limit of a transient message")
        }
    }

    /// Checks that a document may have this type, subject and key.
    package static func checkDocument(_ type: MessageType, subject: String, key: String) throws(Mistake) {
        guard type.kind == .document else { throw Mistake(.type, "\(type) is not a document") }
        try check(type, subject: subject)
        try check(type, key: key, headerCount: 0, dataCount: 0)
    }

    package static func checkConsumer(_ name: String) throws(Mistake) {
        guard !name.isEmpty else {
            throw Mistake(.tooLarge, "the name of a durable consumer must have 1 to \(Limits.nameLength) bytes")
        }
        try checkName(name, "the name of a durable consumer")
    }

    /// - Parameter what: A description of the named thing, for the error.
    private static func checkName(_ text: String, _ what: @autoclosure () -> String) throws(Mistake) {
        guard text.utf8.count <= Limits.nameLength else {
            throw Mistake(.tooLarge, "\(what()) exceeds \(Limits.nameLength) bytes")
        }
        // In SQLite, the result of an expression with a string that contains a zero byte is undefined.
        guard !text.utf8.contains(0) else { throw Mistake(.malformed, "\(what()) contains a zero byte") }
        // Swift compares strings by canonical equivalence, SQLite and other languages by bytes. In Unicode
        // Normalization Form C both agree.
        guard text.isInFormC else {
            throw Mistake(.malformed, "\(what()) is not in Unicode Normalization Form C (NFC); normalize it")
        }
    }
}

extension String {
    fileprivate var isInFormC: Bool {
        utf8.allSatisfy { $0 < 0x80 } || precomposedStringWithCanonicalMapping.utf8.elementsEqual(utf8)
    }
}

/// The maximum sizes of names, messages and batches on every bus.
package enum Limits {
    /// The maximum length of a subject, of a document's key and of a durable consumer's name, in bytes.
    package static let nameLength = 255
    /// The maximum length of the other text attributes, in bytes. Only clients check this. The type has a limit of its
    /// own.
    static let attributeLength = 255
    /// The maximum size of a message's header, that is of the attributes as JSON, in bytes.
    package static let headerSize = 64 * 1024
    /// The maximum size of a message's data in bytes.
    package static let dataSize = 4 * 1024 * 1024
    /// The maximum number of messages in a batch, and of the dead letters that a batch settles.
    package static let batchCount = 1024
    /// The maximum size of the messages of a batch together, in bytes. The servers of a bus may accept less.
    package static let batchSize = 8 * 1024 * 1024
    /// The number at which a bus stops to count messages for a lag.
    package static let lag: UInt64 = 10_000
    /// The maximum size of header and data together on the feed, in bytes. Subscribers read a larger message from the
    /// journal. A larger transient message is refused.
    package static let feedSize = 16 * 1024
}

/// A violation of the ``Rules``.
package struct Mistake: Error, Hashable {
    package enum Kind: Sendable {
        case malformed
        /// A size or a length is not within the ``Limits``.
        case tooLarge
        /// A type is invalid, or cannot be used for this purpose.
        case type
    }

    package let kind: Kind
    /// One line that says what is wrong.
    package let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
