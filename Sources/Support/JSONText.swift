package import Foundation

/// One JSON value on one line, without blanks between its parts, otherwise as it was written. Unlike a ``JSONValue``,
/// it keeps the digits of numbers and the order of members.
package struct JSONText: Hashable, Sendable, CustomStringConvertible {
    package let utf8: [UInt8]

    package var description: String { String(decoding: utf8, as: UTF8.self) }

    /// Nil if the bytes are not one JSON value in UTF-8.
    package init?(_ data: Data) {
        guard (try? JSONValue(parsing: data)) != nil else { return nil }
        utf8 = Self.withoutBlanks(Array(data))
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
}

/// The members of a JSON object. Each value is kept as the bytes that were received, with the digits of its numbers and
/// the order of its members.
package struct RawMembers {
    private var values: [String: Data] = [:]

    /// - Parameter json: A JSON object. For any other input, members are missing or invalid.
    package init(_ json: Data) {
        var scanner = Scanner(bytes: json)
        guard scanner.take(UInt8(ascii: "{")) else { return }
        while let name = scanner.string(), scanner.take(UInt8(ascii: ":")) {
            let value = scanner.value()
            // Of two members with the same name the first one counts.
            if values[name] == nil { values[name] = value }
            guard scanner.take(UInt8(ascii: ",")) else { return }
        }
    }

    package subscript(name: String) -> Data? { values[name] }

    private struct Scanner {
        private let bytes: Data
        private var index: Data.Index

        init(bytes: Data) {
            self.bytes = bytes
            index = bytes.startIndex
        }

        mutating func take(_ byte: UInt8) -> Bool {
            while index < bytes.endIndex, bytes[index] <= UInt8(ascii: " ") { index += 1 }
            guard index < bytes.endIndex, bytes[index] == byte else { return false }
            index += 1
            return true
        }

        /// Reads a string, without its quotes. Escapes are not decoded. Nil if the next value is not a string in UTF-8.
        mutating func string() -> String? {
            guard take(UInt8(ascii: "\"")) else { return nil }
            let start = index
            skipString()
            return String(data: bytes[start..<index - 1], encoding: .utf8)
        }

        /// Reads everything before the comma or the closing bracket that follows the value.
        mutating func value() -> Data {
            let start = index
            var depth = 0
            while index < bytes.endIndex {
                switch bytes[index] {
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { return bytes[start..<index] }
                    depth -= 1
                case UInt8(ascii: ",") where depth == 0: return bytes[start..<index]
                case UInt8(ascii: "\""):
                    index += 1
                    skipString()
                    continue
                default: break
                }
                index += 1
            }
            return bytes[start...]
        }

        /// Moves from the byte after the opening quote to the byte after the closing quote.
        private mutating func skipString() {
            while index < bytes.endIndex, bytes[index] != UInt8(ascii: "\"") {
                index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            index = min(index + 1, bytes.endIndex)
        }
    }
}
