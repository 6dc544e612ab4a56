import Foundation

/// Reads unit files back, by systemd.syntax(7) and by nothing of what writes them.
enum UnitLine {
    /// The values of a key, line by line.
    static func values(of key: String, in unit: String) -> [String] {
        unit.split(separator: "\n").filter { $0.hasPrefix("\(key)=") }.map { String($0.dropFirst(key.count + 1)) }
    }

    /// The words of a line: double quotes, C escapes, and `%%`.
    static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        var rest = Substring(line)
        while let character = rest.popFirst() {
            switch character {
            case "\"": (isQuoted, word) = (!isQuoted, word ?? "")
            case " " where !isQuoted:
                if let finished = word { words.append(finished) }
                word = nil
            case "\\": word = (word ?? "") + escaped(&rest)
            case "%":
                rest.removeFirst()
                word = (word ?? "") + "%"
            default: word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }

    private static func escaped(_ rest: inout Substring) -> String {
        switch rest.popFirst() {
        case "n": return "\n"
        case "t": return "\t"
        case "x":
            let digits = rest.prefix(2)
            rest.removeFirst(2)
            return UInt8(digits, radix: 16).map { String(UnicodeScalar($0)) } ?? "?"
        case let other: return other.map(String.init) ?? "?"
        }
    }
}
