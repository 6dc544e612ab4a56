/// What a server says went wrong, made fit to show: one line of bounded length.
enum ServerMessage {
    private static let longestWord = 40
    private static let longestLine = 160

    /// Leaves out words longer than any in a language, which could be a token sent back to us, and words with control
    /// characters, which a terminal would obey.
    static func line(_ text: String) -> String {
        let words = text.split(whereSeparator: \.isWhitespace).map { word in
            let isPlain =
                word.count <= longestWord
                && word.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            return isPlain ? String(word) : "…"
        }
        return String(words.joined(separator: " ").prefix(longestLine))
    }
}
