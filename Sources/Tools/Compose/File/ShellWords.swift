/// Splits a command line into words as compose does: quotes and backslashes count, no shell is involved.
package enum ShellWords {
    /// - Returns: `nil` when a quote is not closed or the text ends in a backslash.
    package static func split(_ text: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var characters = text.makeIterator()
        // In its place: a new text for each character would cost the square of a long word.
        func append(_ character: Character) {
            if word == nil { word = "" }
            word?.append(character)
        }
        while let character = characters.next() {
            if character == "\\", quote != "'" {
                guard let escaped = characters.next() else { return nil }
                // Within double quotes a backslash stands for itself before anything but these (POSIX 2.2.3).
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
