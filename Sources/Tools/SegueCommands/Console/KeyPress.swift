internal import Support

/// A key of a terminal.
enum KeyPress: Hashable, Sendable {
    case up, down, pageUp, pageDown, home, end, escape
    case character(Unicode.Scalar)

    /// The keys of a text that a terminal has sent. Keys without a case here are left out.
    ///
    /// The terminal sends a special key as a sequence that begins with Escape, in one piece. So Escape at the end of
    /// the text is the key Escape.
    static func keys(in text: String) -> [KeyPress] {
        var rest = Substring(text).unicodeScalars
        var keys: [KeyPress] = []
        while let scalar = rest.popFirst() {
            guard scalar == "\u{1B}" else {
                if scalar.value >= 0x20, scalar.value != 0x7F { keys.append(.character(scalar)) }
                continue
            }
            guard let start = rest.first, start == "[" || start == "O" else {
                keys.append(.escape)
                continue
            }
            rest.removeFirst()
            let parameters = rest.prefix { $0.isASCIIDigit || ";" == $0 }
            rest = rest[parameters.endIndex...]
            guard let final = rest.popFirst() else { break }
            if let key = special(String(String.UnicodeScalarView(parameters)), final) { keys.append(key) }
        }
        return keys
    }

    /// The key of a sequence, as xterm and the console of Linux send it.
    private static func special(_ parameters: String, _ final: Unicode.Scalar) -> KeyPress? {
        switch (parameters, final) {
        case (_, "A"): .up
        case (_, "B"): .down
        case (_, "H"), ("1", "~"), ("7", "~"): .home
        case (_, "F"), ("4", "~"), ("8", "~"): .end
        case ("5", "~"): .pageUp
        case ("6", "~"): .pageDown
        default: nil
        }
    }
}
