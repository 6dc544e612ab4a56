/// Splits a command line into words. Quotes and backslashes are interpreted, but no shell is run.
package enum ShellWords {
    /// - Returns: nil if a quote is not closed or the text ends in a backslash.
    package static func split(_ text: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var characters = text.makeIterator()
        // Appends a character in place.
        func append(_ character: Character) {
            if word == nil { word = "" }
            word?.append(character)
        }
        while let character = characters.next() {
            if character == "\\", quote != "'" {
                guard let escaped = characters.next() else { return nil }
                // Within double quotes a backslash is literal unless one of these characters follows it (POSIX 2.2.3).
                let kept = quote == "\"" && !"\\\"$`".contains(escaped)
                if kept { append("\\") }
                append(escaped)
            } else if character == quote {
                quote = nil
            } else if quote != nil {
                append(character)
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                append(character)
            }
        }
        guard quote == nil else { return nil }
        if let word { words.append(word) }
        return words
    }
}
