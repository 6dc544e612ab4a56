package import Foundation
internal import Navigation

/// JSON as somebody wrote it, on one line: numbers keep their digits, members their order.
package struct JSONText: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Returns: `nil` when the bytes are not one JSON value in UTF-8.
    package init?(_ data: Data) {
        guard (try? JSONValue(parsing: data)) != nil else { return nil }
        description = String(decoding: Self.withoutBlanks(data), as: UTF8.self)
    }

    private static func withoutBlanks(_ json: Data) -> [UInt8] {
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
