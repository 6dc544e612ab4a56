internal import Foundation

/// A JSON text (RFC 8259) that has been parsed: its values, without the strings and numbers themselves, which are read
/// when they are asked for.
final class JSONDocument: Sendable {
    /// A value of the document.
    struct Value: Sendable {
        var kind: Kind
        /// For a string or a number, the index of its first byte; a string begins after its quote. For an array or an
        /// object, the number of its elements or members.
        var start: UInt32
        /// For a string or a number, the index after its last byte. For an array or an object, the index of the value
        /// that follows it.
        var end: UInt32
        /// The index of the array or the object that contains the value.
        var parent: UInt32
        /// The number of elements or members before it in ``parent``.
        var ordinal: UInt32
    }

    enum Kind: UInt8, Sendable {
        case null
        case `true`
        case `false`
        /// A number without a fraction and an exponent.
        case integer
        /// Any other number.
        case number
        /// A string of ASCII without escapes.
        case ascii
        /// A string of UTF-8 without escapes.
        case utf8
        /// A string with escapes.
        case escaped
        case array
        case object
    }

    let bytes: [UInt8]
    /// The values in the order in which they are written, the whole text first. Each member of an object has two: its
    /// name and its value. The last one is an additional `null`, for a value that is missing.
    let values: [Value]
    /// True if there is a blank between two parts of the text, or around it.
    let hasBlanks: Bool

    /// - Throws: `DecodingError` if the bytes are not one JSON value in UTF-8, with the number of the byte at which they
    ///   are invalid, counted from 1.
    init(parsing bytes: [UInt8]) throws {
        var parser = JSONParser(bytes)
        do { values = try parser.parse() } catch { throw error.decodingError }
        hasBlanks = parser.hasBlanks
        self.bytes = bytes
    }

    /// The whole text as a value.
    /// - Throws: `DecodingError` if a number is too large.
    var value: JSONValue {
        get throws {
            do {
                return try value(at: 0, levels: .max, number: number)
            } catch {
                throw error.decodingError
            }
        }
    }

    /// - Throws: `DecodingError` if a number is too large.
    func checkNumbers() throws {
        do {
            // Of 18 digits, no integer is too large.
            for (index, value) in values.enumerated()
            where value.kind == .number || value.kind == .integer && value.end - value.start > 18 {
                _ = try number(at: index)
            }
        } catch {
            throw error.decodingError
        }
    }

    /// The index of the `null` for a missing value.
    var missing: Int { values.count - 1 }

    /// The index of the value after this one, which may be one of the parent's siblings.
    func next(after index: Int) -> Int {
        let value = values[index]
        return value.kind == .array || value.kind == .object ? Int(value.end) : index + 1
    }

    /// The string at the index of a string.
    func string(at index: Int) -> String {
        let value = values[index]
        return bytes.withUnsafeBufferPointer { bytes in
            let text = UnsafeBufferPointer(rebasing: bytes[Int(value.start)..<Int(value.end)])
            guard value.kind == .escaped else { return String(decoding: text, as: UTF8.self) }
            // The parser has checked the escapes.
            return String(decoding: (try? JSONStrings.unescaped(text)) ?? [], as: UTF8.self)
        }
    }

    /// The number at the index of a number, as it is written.
    func digits(at index: Int) -> String {
        let value = values[index]
        return bytes.withUnsafeBufferPointer {
            String(decoding: UnsafeBufferPointer(rebasing: $0[Int(value.start)..<Int(value.end)]), as: UTF8.self)
        }
    }

    /// True if the string at an index is `text`.
    func string(at index: Int, is text: String) -> Bool {
        let value = values[index]
        guard value.kind == .ascii else { return string(at: index) == text }
        var wanted = text
        return wanted.withUTF8 { utf8 in
            guard Int(value.end - value.start) == utf8.count else {
                // Strings of different bytes can be equal in Unicode, but not if they are ASCII.
                return utf8.contains { $0 >= 0x80 } && string(at: index) == text
            }
            return bytes.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress, let other = utf8.baseAddress else { return utf8.isEmpty }
                return memcmp(start + Int(value.start), other, utf8.count) == 0
            }
        }
    }

    /// True if the string at an index is `text`, which must be ASCII.
    func string(at index: Int, is text: StaticString) -> Bool {
        let value = values[index]
        guard value.kind == .ascii else { return string(at: index) == "\(text)" }
        guard Int(value.end - value.start) == text.utf8CodeUnitCount else { return false }
        return bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memcmp($0 + Int(value.start), text.utf8Start, text.utf8CodeUnitCount) } == 0
        }
    }

    /// The index of a member's value in an object. Nil if there is no such member. Of two members with the same name
    /// the first one counts.
    func member(_ name: String, of object: Int) -> Int? {
        let end = Int(values[object].end)
        var index = object + 1
        while index < end {
            if string(at: index, is: name) { return index + 1 }
            index = next(after: index + 1)
        }
        return nil
    }

    /// The indices of the names of an object's members. The value of a member follows its name.
    func members(of object: Int) -> some Sequence<Int> {
        let end = Int(values[object].end)
        return sequence(state: object + 1) { index in
            guard index < end else { return nil }
            defer { index = self.next(after: index + 1) }
            return index
        }
    }
}

extension JSONDocument {
    /// The value at an index.
    /// - Parameters:
    ///   - levels: The maximum depth of nested arrays and objects.
    ///   - number: Returns the value for the index of a number.
    func value(
        at index: Int, levels: Int, number: (Int) throws(JSONFailure) -> JSONValue
    ) throws(JSONFailure) -> JSONValue {
        let value = values[index]
        switch value.kind {
        case .null: return .null
        case .true: return .bool(true)
        case .false: return .bool(false)
        case .integer, .number: return try number(index)
        case .ascii, .utf8, .escaped: return .string(string(at: index))
        case .array, .object:
            guard levels > 0 else { throw JSONFailure("nested too deeply", at: 0) }
            return value.kind == .array
                ? .array(try elements(of: index, levels: levels - 1, number: number))
                : .object(try members(of: index, levels: levels - 1, number: number))
        }
    }

    private func elements(
        of array: Int, levels: Int, number: (Int) throws(JSONFailure) -> JSONValue
    ) throws(JSONFailure) -> [JSONValue] {
        var elements: [JSONValue] = []
        elements.reserveCapacity(Int(values[array].start))
        var index = array + 1
        while index < values[array].end {
            elements.append(try value(at: index, levels: levels, number: number))
            index = next(after: index)
        }
        return elements
    }

    private func members(
        of object: Int, levels: Int, number: (Int) throws(JSONFailure) -> JSONValue
    ) throws(JSONFailure) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for index in self.members(of: object) {
            let name = string(at: index)
            // Of two members with the same name the first one counts.
            if members[name] == nil { members[name] = try value(at: index + 1, levels: levels, number: number) }
        }
        return members
    }

    /// The number at an index, with all digits of an integer that fits in 64 bits.
    /// - Throws: ``JSONFailure`` if the number is too large.
    func number(at index: Int) throws(JSONFailure) -> JSONValue {
        let digits = digits(at: index)
        if values[index].kind == .integer, let value = Int(digits) { return .integer(value) }
        guard let value = Double(digits), value.isFinite else {
            throw JSONFailure("a number is too large", at: Int(values[index].end))
        }
        return .number(value)
    }
}
