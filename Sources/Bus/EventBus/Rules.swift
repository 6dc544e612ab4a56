internal import Foundation

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
