package import Foundation

/// One JSON value on one line, without blanks between its parts, otherwise as it was written. Unlike a ``JSONValue``,
/// it keeps the digits of numbers, the escapes in strings, and the order and duplicates of members. Data that passes
/// through a tool is a JSON text.
package struct JSONText: Hashable, Sendable, CustomStringConvertible {
    package let utf8: [UInt8]

    package var description: String { String(decoding: utf8, as: UTF8.self) }

    /// - Throws: The errors of ``JSONValue/init(parsing:)`` if the bytes are not one JSON value in UTF-8.
    package init(parsing data: Data) throws {
        let document = try JSONDocument(parsing: Array(data))
        try document.checkNumbers()
        utf8 = document.hasBlanks ? Self.withoutBlanks(document.bytes) : document.bytes
    }

    /// Nil if the bytes are not one JSON value in UTF-8.
    package init?(_ data: Data) {
        do { try self.init(parsing: data) } catch { return nil }
    }

    /// The JSON text that `value` encodes to.
    /// - Throws: The errors of ``JSONValue/init(encoding:)``.
    package init(encoding value: some Encodable) throws {
        utf8 = Array(try JSONValue(encoding: value).description.utf8)
    }

    /// - Parameter part: A value in a JSON text.
    private init(part: ArraySlice<UInt8>) {
        utf8 = Array(part)
    }

    private static func withoutBlanks(_ json: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(json.count)
        var isInString = false
        var isEscaped = false
        for byte in json {
            if isInString {
                isInString = byte != UInt8(ascii: "\"") || isEscaped
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            } else if byte <= UInt8(ascii: " ") {
                continue
            } else {
                isInString = byte == UInt8(ascii: "\"")
            }
            result.append(byte)
        }
        return result
    }

    package var isObject: Bool { utf8.first == UInt8(ascii: "{") }

    /// The string. Nil if this is not a string.
    package var stringValue: String? {
        guard utf8.first == UInt8(ascii: "\"") else { return nil }
        return try? JSONValue(parsing: Data(utf8)).stringValue
    }

    /// The member `name` of an object; of two members with the same name the first one. Nil if there is no such member,
    /// or if this is not an object.
    package subscript(name: String) -> JSONText? {
        guard isObject else { return nil }
        var found: JSONText?
        forEachPart { member, part in
            if member.map(string(at:)) == name { found = JSONText(part: utf8[part]) }
            return found == nil
        }
        return found
    }

    /// The object with one more member, which is the last one. Anything else stays as it is.
    package func adding(_ name: String, _ value: JSONText) -> JSONText {
        guard isObject else { return self }
        let separator = utf8.count > 2 ? "," : ""
        let member = Array("\(separator)\(JSONValue.string(name)):".utf8) + value.utf8
        return JSONText(part: utf8.dropLast() + member + [UInt8(ascii: "}")])
    }

    /// The value at a path, as ``JSONValue/value(at:)`` finds it.
    package func value(at path: [String]) -> JSONText? {
        path.reduce(self as JSONText?) { value, step in
            guard value?.utf8.first == UInt8(ascii: "[") else { return value?[step] }
            return Int(step).flatMap { value?.element($0) }
        }
    }

    private func element(_ index: Int) -> JSONText? {
        var (found, next): (JSONText?, Int) = (nil, 0)
        forEachPart { _, part in
            if next == index { found = JSONText(part: utf8[part]) }
            next += 1
            return found == nil
        }
        return found
    }

    /// Calls `body` with each member of an object or element of an array until it returns false: the range of the
    /// member's name with its quotes, nil for an element; and the range of the value.
    private func forEachPart(_ body: (_ name: Range<Int>?, _ value: Range<Int>) -> Bool) {
        var start = 1
        while start < utf8.count - 1 {
            var name: Range<Int>?
            if isObject {
                let end = endOfString(at: start)
                name = start..<end
                start = end + 1
            }
            let end = endOfValue(at: start)
            guard body(name, start..<end) else { return }
            start = end + 1
        }
    }

    /// The index of the comma or the closing bracket after a value.
    private func endOfValue(at start: Int) -> Int {
        var (index, depth) = (start, 0)
        while index < utf8.count {
            switch utf8[index] {
            case UInt8(ascii: "\""):
                index = endOfString(at: index)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index }
                depth -= 1
            case UInt8(ascii: ",") where depth == 0: return index
            default: break
            }
            index += 1
        }
        return index
    }

    /// The index after the closing quote of a string.
    private func endOfString(at quote: Int) -> Int {
        var index = quote + 1
        while utf8[index] != UInt8(ascii: "\"") { index += utf8[index] == UInt8(ascii: "\\") ? 2 : 1 }
        return index + 1
    }

    private func string(at range: Range<Int>) -> String {
        JSONText(part: utf8[range]).stringValue ?? ""
    }
}

extension JSONText {
    /// A copy in which strings have other values. The names of members stay.
    /// - Parameter change: Returns the new value of a string, or nil to keep it as it is written.
    package func replacingStrings(_ change: (String) -> String?) -> JSONText {
        var result: [UInt8] = []
        var index = 0
        while index < utf8.count {
            guard utf8[index] == UInt8(ascii: "\"") else {
                result.append(utf8[index])
                index += 1
                continue
            }
            let end = endOfString(at: index)
            let isName = end < utf8.count && utf8[end] == UInt8(ascii: ":")
            let new = isName ? nil : change(string(at: index..<end))
            result += new.map { Array(JSONValue.string($0).description.utf8) } ?? Array(utf8[index..<end])
            index = end
        }
        return JSONText(part: result[...])
    }

    /// The value on several lines, for people. Each member and element is on a line of its own.
    package var indented: String {
        var result: [UInt8] = []
        var (index, depth) = (0, 0)
        func beginLine() { result += [UInt8(ascii: "\n")] + [UInt8](repeating: UInt8(ascii: " "), count: 2 * depth) }
        while index < utf8.count {
            let byte = utf8[index]
            switch byte {
            case UInt8(ascii: "\""):
                let end = endOfString(at: index)
                result += utf8[index..<end]
                index = end
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                result.append(byte)
                // An empty object or array stays on its line.
                if utf8[index + 1] == byte + 2 {
                    result.append(byte + 2)
                    index += 1
                } else {
                    depth += 1
                    beginLine()
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                beginLine()
                result.append(byte)
            case UInt8(ascii: ","):
                result.append(byte)
                beginLine()
            case UInt8(ascii: ":"): result += Array(" : ".utf8)
            default: result.append(byte)
            }
            index += 1
        }
        return String(decoding: result, as: UTF8.self)
    }
}
