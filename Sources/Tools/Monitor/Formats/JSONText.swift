package import Foundation
internal import Navigation

/// JSON as somebody wrote it, on one line: numbers keep their digits, members their order.
package struct JSONText: Hashable, Sendable, CustomStringConvertible {
    package let utf8: [UInt8]

    package var description: String { String(decoding: utf8, as: UTF8.self) }

    /// - Returns: `nil` when the bytes are not one JSON value in UTF-8.
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
