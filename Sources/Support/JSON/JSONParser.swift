/// The reason why a text is not JSON.
struct JSONFailure: Error {
    let message: String
    /// The number of bytes before the error.
    let offset: Int

    init(_ message: String, at offset: Int) {
        self.message = message
        self.offset = offset
    }

    var decodingError: DecodingError {
        let description = "malformed JSON: \(message) at byte \(offset + 1)"
        return .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: description))
    }
}

/// A strict parser of JSON (RFC 8259). It finds the values of a text and checks them, and creates no strings.
struct JSONParser {
    /// The maximum depth of nested arrays and objects; deeper input is an error.
    private static let depthLimit = 512

    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0
    private var values: [JSONDocument.Value] = []
    /// True if there is a blank between two parts of the text, or around it.
    private(set) var hasBlanks = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses the whole input as one value.
    /// - Returns: See ``JSONDocument/values``.
    mutating func parse() throws(JSONFailure) -> [JSONDocument.Value] {
        guard bytes.count < Int(UInt32.max) else { throw JSONFailure("more than 4 GiB", at: 0) }
        values.reserveCapacity(bytes.count / 12 + 4)
        skipSpace()
        try parseValue(in: 0, ordinal: 0)
        skipSpace()
        guard index == bytes.count else { throw failure("unexpected characters after the value") }
        add(.null, in: 0, ordinal: 0)
        return values
    }

    /// - Returns: The index of the value.
    @discardableResult
    private mutating func add(
        _ kind: JSONDocument.Kind, _ range: Range<Int> = 0..<0, in parent: Int, ordinal: Int
    ) -> Int {
        values.append(
            JSONDocument.Value(
                kind: kind, start: UInt32(truncatingIfNeeded: range.lowerBound),
                end: UInt32(truncatingIfNeeded: range.upperBound), parent: UInt32(truncatingIfNeeded: parent),
                ordinal: UInt32(truncatingIfNeeded: ordinal)))
        return values.count - 1
    }

    /// Parses a value after the spaces before it.
    private mutating func parseValue(in parent: Int, ordinal: Int) throws(JSONFailure) {
        switch peek {
        case UInt8(ascii: "{"): try parseObject(in: parent, ordinal: ordinal)
        case UInt8(ascii: "["): try parseArray(in: parent, ordinal: ordinal)
        case UInt8(ascii: "\""): try parseString(in: parent, ordinal: ordinal)
        case UInt8(ascii: "t"): try parse("true", as: .true, in: parent, ordinal: ordinal)
        case UInt8(ascii: "f"): try parse("false", as: .false, in: parent, ordinal: ordinal)
        case UInt8(ascii: "n"): try parse("null", as: .null, in: parent, ordinal: ordinal)
        default: try parseNumber(in: parent, ordinal: ordinal)
        }
    }

    private mutating func parseObject(in parent: Int, ordinal: Int) throws(JSONFailure) {
        let object = try enter(.object, in: parent, ordinal: ordinal)
        var count = 0
        while try !leave(object, at: UInt8(ascii: "}"), count: count) {
            guard peek == UInt8(ascii: "\"") else { throw failure("expected a member's name") }
            try parseString(in: object, ordinal: count)
            skipSpace()
            guard consume(UInt8(ascii: ":")) else { throw failure("expected ':' after a member's name") }
            skipSpace()
            try parseValue(in: object, ordinal: count)
            count += 1
        }
    }

    private mutating func parseArray(in parent: Int, ordinal: Int) throws(JSONFailure) {
        let array = try enter(.array, in: parent, ordinal: ordinal)
        var count = 0
        while try !leave(array, at: UInt8(ascii: "]"), count: count) {
            try parseValue(in: array, ordinal: count)
            count += 1
        }
    }

    /// - Returns: The index of the array or the object.
    private mutating func enter(_ kind: JSONDocument.Kind, in parent: Int, ordinal: Int) throws(JSONFailure) -> Int {
        index += 1
        depth += 1
        if depth > Self.depthLimit { throw failure("nested more than \(Self.depthLimit) levels deep") }
        return add(kind, in: parent, ordinal: ordinal)
    }

    /// Consumes the closing bracket, or the comma before an element. The first element has no comma.
    /// - Parameter count: The number of elements or members before.
    /// - Returns: True at the closing bracket.
    private mutating func leave(_ container: Int, at bracket: UInt8, count: Int) throws(JSONFailure) -> Bool {
        skipSpace()
        if consume(bracket) {
            depth -= 1
            values[container].start = UInt32(truncatingIfNeeded: count)
            values[container].end = UInt32(truncatingIfNeeded: values.count)
            return true
        }
        guard count > 0 else { return false }
        guard consume(UInt8(ascii: ",")) else { throw failure("expected ',' or a closing bracket") }
        skipSpace()
        return false
    }

    private mutating func parse(
        _ word: StaticString, as kind: JSONDocument.Kind, in parent: Int, ordinal: Int
    ) throws(JSONFailure) {
        let end = index + word.utf8CodeUnitCount
        let isWord = word.withUTF8Buffer { end <= bytes.count && bytes[index..<end].elementsEqual($0) }
        guard isWord else { throw failure("expected a value") }
        index = end
        add(kind, in: parent, ordinal: ordinal)
    }

    private mutating func parseString(in parent: Int, ordinal: Int) throws(JSONFailure) {
        let start = index + 1
        var isASCII = true
        var kind = JSONDocument.Kind.ascii
        var end = bytes.withUnsafeBufferPointer { $0.firstSpecial(from: start, isASCII: &isASCII) }
        while end < bytes.count, bytes[end] == UInt8(ascii: "\\") {
            kind = .escaped
            guard end + 1 < bytes.count else {
                end += 1
                break
            }
            end = bytes.withUnsafeBufferPointer { $0.firstSpecial(from: end + 2, isASCII: &isASCII) }
        }
        index = end
        guard consume(UInt8(ascii: "\"")) else {
            throw failure("a string has no closing quote, or contains a control character")
        }
        if kind == .ascii && !isASCII { kind = .utf8 }
        if kind != .ascii { try check(start..<end, kind) }
        add(kind, start..<end, in: parent, ordinal: ordinal)
    }

    /// Checks a string that has escapes, or that is not ASCII.
    private func check(_ range: Range<Int>, _ kind: JSONDocument.Kind) throws(JSONFailure) {
        let start = range.lowerBound
        let failure = bytes.withUnsafeBufferPointer { bytes -> JSONFailure? in
            let text = UnsafeBufferPointer(rebasing: bytes[range])
            do throws(JSONFailure) {
                let isUTF8 =
                    kind == .escaped
                    ? String(validating: try JSONStrings.unescaped(text), as: UTF8.self) != nil
                    : String(validating: text, as: UTF8.self) != nil
                return isUTF8 ? nil : JSONFailure("a string is not UTF-8", at: start)
            } catch {
                return JSONFailure(error.message, at: start + error.offset)
            }
        }
        if let failure { throw failure }
    }

    private mutating func parseNumber(in parent: Int, ordinal: Int) throws(JSONFailure) {
        let start = index
        var kind = JSONDocument.Kind.integer
        _ = consume(UInt8(ascii: "-"))
        if !consume(UInt8(ascii: "0")) { try parseDigits() }
        if consume(UInt8(ascii: ".")) {
            kind = .number
            try parseDigits()
        }
        if consume(UInt8(ascii: "e")) || consume(UInt8(ascii: "E")) {
            kind = .number
            if !consume(UInt8(ascii: "+")) { _ = consume(UInt8(ascii: "-")) }
            try parseDigits()
        }
        add(kind, start..<index, in: parent, ordinal: ordinal)
    }

    private mutating func parseDigits() throws(JSONFailure) {
        let start = index
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        if index == start { throw failure(peek == nil ? "the input ends too early" : "expected a value") }
    }

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
            hasBlanks = true
            index += 1
        }
    }

    private func failure(_ message: String) -> JSONFailure {
        JSONFailure(message, at: index)
    }
}
