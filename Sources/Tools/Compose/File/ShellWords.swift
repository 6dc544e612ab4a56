/// Splits a command line into words, at spaces, tabs and the ends of lines, as a shell does. Quotes and backslashes are
/// interpreted, but no shell is run.
package enum ShellWords {
    /// - Returns: nil if a quote is not closed or the text ends in a backslash.
    package static func split(_ text: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Unicode.Scalar?
        var scalars = text.unicodeScalars.makeIterator()
        // Appends a scalar in place.
        func append(_ scalar: Unicode.Scalar) {
            if word == nil { word = "" }
            word?.unicodeScalars.append(scalar)
        }
        while let scalar = scalars.next() {
            if scalar == "\\", quote != "'" {
                guard let escaped = scalars.next() else { return nil }
                // Within double quotes a backslash is literal unless one of these characters follows it (POSIX 2.2.3).
                let kept = quote == "\"" && !"\\\"$`".unicodeScalars.contains(escaped)
                if kept { append("\\") }
                append(escaped)
            } else if scalar == quote {
                quote = nil
            } else if quote != nil {
                append(scalar)
            } else if scalar == "'" || scalar == "\"" {
                quote = scalar
                word = word ?? ""
            } else if " \t\r\n".unicodeScalars.contains(scalar) {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                append(scalar)
            }
        }
        guard quote == nil else { return nil }
        if let word { words.append(word) }
        return words
    }
}
