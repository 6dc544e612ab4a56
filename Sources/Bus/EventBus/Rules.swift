internal import Foundation
internal import Support

/// What every bus asks of what it is given: the bus in memory, the client of a broker and the broker check by these.
package enum Rules {
    package static func check(_ type: MessageType, subject: String) throws(Mistake) {
        guard type.isValid else {
            throw Mistake(.type, "'\(type.description.prefix(80))' is not the type of a message")
        }
        try checkName(subject, "a subject of \(type)")
    }

    /// Checks what differs between messages of one type and subject.
    package static func check(
        _ type: MessageType, key: String, headerCount: Int, dataCount: Int, isTransient: Bool = false
    ) throws(Mistake) {
        try checkName(key, "a key of \(type)")
        guard headerCount <= Limits.headerSize, dataCount <= Limits.dataSize else {
            throw Mistake(
                .tooLarge, "\(type) exceeds \(Limits.headerSize) bytes of header or \(Limits.dataSize) bytes of data")
        }
        guard !isTransient || headerCount + dataCount <= Limits.feedSize else {
            throw Mistake(.tooLarge, "\(type) exceeds the \(Limits.feedSize) bytes of a transient message")
        }
    }

    /// Checks the attributes that only clients look at. What they inherit from a message that breaks this is left out: see
    /// ``Attributes/init(type:source:causedBy:id:time:)``.
    package static func check(_ attributes: Attributes) throws(Mistake) {
        try check(attributes.id, "id", of: attributes)
        try check(attributes.source, "source", of: attributes)
        try check(attributes.correlationID, "correlationid", of: attributes)
        try check(attributes.causationID, "causationid", of: attributes)
        try check(attributes.traceparent, "traceparent", of: attributes)
        try check(attributes.platform, "platform", of: attributes)
        try check(attributes.device, "device", of: attributes)
        try check(attributes.instance, "instance", of: attributes)
        try check(attributes.recipient, "recipient", of: attributes)
        try check(attributes.time, "time", of: attributes)
        try check(attributes.expiryTime, "expirytime", of: attributes)
    }

    private static func check(_ text: String?, _ name: StaticString, of attributes: Attributes) throws(Mistake) {
        guard let text, text.utf8.count > Limits.attributeLength else { return }
        throw Mistake(
            .tooLarge, "the attribute '\(name)' of \(attributes.type) exceeds \(Limits.attributeLength) bytes")
    }

    private static func check(_ date: Date?, _ name: StaticString, of attributes: Attributes) throws(Mistake) {
        guard let date, !Timestamp.canHold(date) else { return }
        throw Mistake(
            .malformed, "the attribute '\(name)' of \(attributes.type) is not a time of the years 0000 to 9999")
    }

    /// Checks whether messages of a type can be published.
    package static func checkPublishing(_ type: MessageType, isTransient: Bool = false) throws(Mistake) {
        guard type.kind != .query else {
            throw Mistake(.type, "\(type) cannot be published: queries are never journalled")
        }
        guard !isTransient || type.kind != .document else {
            throw Mistake(.type, "\(type) cannot be transient: documents are retained")
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
            throw Mistake(.tooLarge, "a consumer's name has 1 to \(Limits.nameLength) bytes")
        }
        try checkName(name, "a consumer's name")
    }

    /// - Parameter what: what the text names.
    private static func checkName(_ text: String, _ what: @autoclosure () -> String) throws(Mistake) {
        guard text.utf8.count <= Limits.nameLength else {
            throw Mistake(.tooLarge, "\(what()) exceeds \(Limits.nameLength) bytes")
        }
        // SQLite reads a text up to there: it would be another one's.
        guard !text.utf8.contains(0) else { throw Mistake(.malformed, "\(what()) has a zero byte") }
        // Swift takes texts for the same that are canonically equal, SQLite and other languages those whose bytes are. Of
        // texts in form C the ones are the others.
        guard text.isInFormC else {
            throw Mistake(.malformed, "\(what()) is not in Unicode's normalization form C (NFC): compose it")
        }
    }
}

extension String {
    fileprivate var isInFormC: Bool {
        utf8.allSatisfy { $0 < 0x80 } || precomposedStringWithCanonicalMapping.utf8.elementsEqual(utf8)
    }
}

/// What names, messages and batches may measure, on every bus.
package enum Limits {
    /// Bytes of a subject, a document's key or a durable consumer's name.
    package static let nameLength = 255
    /// Bytes of each other attribute. Only clients check it: a broker does not look inside a header.
    static let attributeLength = 255
    /// Bytes of the attributes, as JSON.
    package static let headerSize = 64 * 1024
    package static let dataSize = 4 * 1024 * 1024
    /// Messages of one batch, and dead letters that it settles.
    package static let batchCount = 1024
    /// Bytes of header and data of a transient message: a broker has no journal to give a larger one from.
    package static let feedSize = 16 * 1024
}

/// Why no bus takes something.
package struct Mistake: Error, Hashable {
    package enum Kind: Sendable {
        case malformed
        /// It exceeds one of the ``Limits``.
        case tooLarge
        /// A type that is none, or that cannot be used so.
        case type
    }

    package let kind: Kind
    /// One line: what is wrong.
    package let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
