/// A strict parser of JSON (RFC 8259).
struct JSONParser {
    /// The reason why the input is not JSON.
    struct Failure: Error {
        let message: String
        /// The number of bytes before the error.
        let offset: Int
    }

    /// The maximum depth of nested arrays and objects; deeper input is an error.
    private static let depthLimit = 512

    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses the whole input as one value.
    mutating func parse() throws(Failure) -> JSONValue {
        let value = try parseValue()
        skipSpace()
        guard index == bytes.count else { throw failure("unexpected characters after the value") }
        return value
    }

    private mutating func parseValue() throws(Failure) -> JSONValue {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return .object(try parseObject())
        case UInt8(ascii: "["): return .array(try parseArray())
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "t"): return try parse("true", as: .bool(true))
        case UInt8(ascii: "f"): return try parse("false", as: .bool(false))
        case UInt8(ascii: "n"): return try parse("null", as: .null)
        default: return try parseNumber()
        }
    }

    private mutating func parseObject() throws(Failure) -> [String: JSONValue] {
        try enter()
        var members: [String: JSONValue] = [:]
        while try !leave(at: UInt8(ascii: "}"), isFirst: members.isEmpty) {
            guard peek == UInt8(ascii: "\"") else { throw failure("expected a member's name") }
            let name = try parseString()
            skipSpace()
            guard consume(UInt8(ascii: ":")) else { throw failure("expected ':' after a member's name") }
            let value = try parseValue()
            // Of two members with the same name the first one counts.
            if members[name] == nil { members[name] = value }
        }
        return members
    }

    private mutating func parseArray() throws(Failure) -> [JSONValue] {
        try enter()
        var elements: [JSONValue] = []
        while try !leave(at: UInt8(ascii: "]"), isFirst: elements.isEmpty) {
            elements.append(try parseValue())
        }
        return elements
    }

    private mutating func enter() throws(Failure) {
        index += 1
        depth += 1
        if depth > Self.depthLimit { throw failure("nested more than \(Self.depthLimit) levels deep") }
    }

    /// Consumes the closing bracket, or the comma before an element. The first element has no comma.
    /// - Returns: True at the closing bracket.
    private mutating func leave(at bracket: UInt8, isFirst: Bool) throws(Failure) -> Bool {
        skipSpace()
        if consume(bracket) {
            depth -= 1
            return true
        }
        guard !isFirst else { return false }
        guard consume(UInt8(ascii: ",")) else { throw failure("expected ',' or a closing bracket") }
        skipSpace()
        return false
    }

    private mutating func parse(_ word: StaticString, as value: JSONValue) throws(Failure) -> JSONValue {
        let end = index + word.utf8CodeUnitCount
        let isWord = word.withUTF8Buffer { end <= bytes.count && bytes[index..<end].elementsEqual($0) }
        guard isWord else { throw failure("expected a value") }
        index = end
        return value
    }

    private mutating func parseString() throws(Failure) -> String {
        index += 1
        let start = index
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { index += 1 }
        // Most strings contain no escape: their bytes are used unchanged.
        if peek == UInt8(ascii: "\"") {
            index += 1
            return try string(bytes[start..<index - 1], from: start)
        }
        var decoded = Array(bytes[start..<index])
        while let byte = peek, byte >= 0x20 {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return try string(decoded[...], from: start)
            case UInt8(ascii: "\\"): decoded.append(contentsOf: String(try parseEscape()).utf8)
            default: decoded.append(byte)
            }
        }
        throw failure("a string has no closing quote, or contains a control character")
    }

    private func string(_ utf8: ArraySlice<UInt8>, from start: Int) throws(Failure) -> String {
        guard let string = utf8.withUnsafeBufferPointer({ String(utf8: $0) }) else {
            throw Failure(message: "a string is not UTF-8", offset: start)
        }
        return string
    }

    private mutating func parseEscape() throws(Failure) -> Unicode.Scalar {
        guard let byte = peek else { throw failure("the input ends inside an escape") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try parseScalar()
        default: throw failure("unknown escape in a string")
        }
    }

    /// Reads the four digits of an escape, and a second escape if the first one is half of a UTF-16 surrogate pair.
    private mutating func parseScalar() throws(Failure) -> Unicode.Scalar {
        var units = [try parseUnit()]
        if UTF16.isLeadSurrogate(units[0]), consume(UInt8(ascii: "\\")), consume(UInt8(ascii: "u")) {
            units.append(try parseUnit())
        }
        guard let scalar = String(validating: units, as: UTF16.self)?.unicodeScalars.first else {
            throw failure("half of a surrogate pair in a string")
        }
        return scalar
    }

    private mutating func parseUnit() throws(Failure) -> UInt16 {
        let digits = bytes[index...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("expected four hexadecimal digits") }
        index += 4
        return unit
    }

    private mutating func parseNumber() throws(Failure) -> JSONValue {
        let start = index
        var isWhole = true
        _ = consume(UInt8(ascii: "-"))
        if !consume(UInt8(ascii: "0")) { try parseDigits() }
        if consume(UInt8(ascii: ".")) {
            isWhole = false
            try parseDigits()
        }
        if consume(UInt8(ascii: "e")) || consume(UInt8(ascii: "E")) {
            isWhole = false
            if !consume(UInt8(ascii: "+")) { _ = consume(UInt8(ascii: "-")) }
            try parseDigits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isWhole, let value = Int(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw failure("a number is too large") }
        return .number(value)
    }

    private mutating func parseDigits() throws(Failure) {
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
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
    }

    private func failure(_ message: String) -> Failure {
        Failure(message: message, offset: index)
    }
}
