internal import Foundation
internal import Support

/// Prepares a server's names and titles for storage and display.
enum ServerText {
    /// The maximum number of Unicode scalars of a name or title. The rest is cut off. A character can have any number
    /// of scalars, so their number limits the size.
    private static let longestName = 500

    /// The name without control characters, in one line of limited length.
    static func name(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !isDirectional(scalar) {
            if !isControl(scalar) {
                scalars.append(scalar)
            } else if scalar.properties.isWhitespace {
                scalars.append(" ")
            }
        }
        return String(String.UnicodeScalarView(scalars.prefix(longestName)))
    }

    /// The identifier, if it can be one. Nil if it is empty, too long, or has control characters.
    static func identifier(_ text: String?) -> String? {
        guard let text, !text.isEmpty, text.utf8.count <= 500, !text.unicodeScalars.contains(where: isControl) else {
            return nil
        }
        return text
    }

    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
    }

    /// True for the controls of bidirectional text. They can change the order of the text after them.
    static func isDirectional(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

/// Prepares a server's message for display: one line of limited length.
enum ServerMessage {
    /// The maximum number of Unicode scalars of a word. A longer word is replaced with an ellipsis.
    private static let longestWord = 40
    /// The maximum number of characters of a message. The rest is cut off.
    private static let longestLine = 160
    /// The maximum number of Unicode scalars of the text from which a message is made.
    private static let longestText = 4000

    /// Joins the lines of a message, and removes the controls of bidirectional text. Replaces words that must not be
    /// shown with an ellipsis: words that are too long, words with control characters, and paths of files.
    static func line(_ text: String) -> String {
        let words = String(text.unicodeScalars.prefix(longestText)).words.compactMap {
            word -> String? in
            let scalars = word.unicodeScalars.filter { !ServerText.isDirectional($0) }
            let word = String(String.UnicodeScalarView(scalars))
            guard !word.isEmpty else { return nil }
            let isPlain =
                word.unicodeScalars.count <= longestWord && !word.unicodeScalars.contains(where: ServerText.isControl)
                && !isPath(word)
            return isPlain ? word : "…"
        }
        return String(words.joined(separator: " ").prefix(longestLine))
    }

    /// True for a word with the absolute path of a file: `/etc/passwd`, `~/a`, `C:\a`, `file:///a`. The path is at the
    /// word's beginning or after a sign such as a bracket: `open('/a')`, `path=/a`. A combining mark may be between them.
    /// The URL of a host is not a path.
    private static func isPath(_ word: String) -> Bool {
        let path =
            #/
            (?: (?: ^ | [^\p{L}\p{N}\p{M}:\/.\-_~%\)\]\}>]) \p{M}* | : \p{M}* (?!//[^\/]) ) (?: ~?\/ | \\\\ | [a-z]:\\ )
            | file:\/
        /#.ignoresCase().byScalar
        return word.contains(path)
    }
}
