/// Splits a command line into words as compose does: quotes and backslashes count, no shell is involved.
enum ShellWords {
    /// - Returns: `nil` when a quote is not closed or the text ends in a backslash.
    static func split(_ text: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var characters = text.makeIterator()
        while let character = characters.next() {
            if character == "\\", quote != "'" {
                guard let escaped = characters.next() else { return nil }
                // Within double quotes a backslash stands for itself before anything but these (POSIX 2.2.3).
                let kept = quote == "\"" && !"\\\"$`".contains(escaped)
                word = (word ?? "") + (kept ? "\\" : "") + String(escaped)
            } else if character == quote {
                quote = nil
            } else if quote != nil {
                word?.append(character)
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil else { return nil }
        if let word { words.append(word) }
        return words
    }
}
