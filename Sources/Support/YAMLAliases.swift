/// A check of a YAML file before it is parsed.
///
/// It finds aliases in keys. With aliases of aliases in a key, parsing could take time that is exponential in the size
/// of the file.
package enum YAMLAliases {
    /// The problem of a file with an alias in a key.
    package static let problem = "a YAML alias cannot be a part of a key"
    package static let remedy = "write the key itself"

    /// The line of the first key that is or may contain an alias, from 1. Nil if there is none.
    ///
    /// The check is simpler than YAML: in a file with aliases, each key that is a list or a mapping counts.
    package static func lineOfKey(in yaml: String) -> Int? {
        var line = 1
        var hasAlias = false
        var firstCollectionKey: Int?
        let bytes = Array(yaml.utf8)
        var index = 0
        var startsToken = true
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                startsToken = true
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: ","):
                startsToken = true
            case UInt8(ascii: "#") where startsToken:
                index = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                continue
            case UInt8(ascii: "'") where startsToken, UInt8(ascii: "\"") where startsToken:
                let first = index
                index = end(ofQuoted: bytes, from: index)
                line += bytes[first..<index].count { $0 == UInt8(ascii: "\n") }
                startsToken = false
                continue
            case UInt8(ascii: "*") where startsToken:
                hasAlias = true
                index = bytes[index...].firstIndex { " \t\n\r,[]{}".utf8.contains($0) } ?? bytes.count
                if isColon(in: bytes, after: index) { return line }
                startsToken = false
                continue
            case UInt8(ascii: "?") where startsToken && isBlank(bytes, at: index + 1):
                firstCollectionKey = firstCollectionKey ?? line
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if isColon(in: bytes, after: index + 1) { firstCollectionKey = firstCollectionKey ?? line }
                startsToken = false
            default: startsToken = byte == UInt8(ascii: "-") && startsToken
            }
            index += 1
        }
        return hasAlias ? firstCollectionKey : nil
    }

    /// The index after a quoted string.
    private static func end(ofQuoted bytes: [UInt8], from start: Int) -> Int {
        let quote = bytes[start]
        var index = start + 1
        while index < bytes.count, bytes[index] != quote {
            index += quote == UInt8(ascii: "\"") && bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, bytes.count)
    }

    private static func isColon(in bytes: [UInt8], after index: Int) -> Bool {
        let rest = bytes[min(index, bytes.count)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return rest.first == UInt8(ascii: ":") && isBlank(bytes, at: rest.startIndex + 1)
    }

    private static func isBlank(_ bytes: [UInt8], at index: Int) -> Bool {
        index >= bytes.count || " \t\r\n".utf8.contains(bytes[index])
    }
}
