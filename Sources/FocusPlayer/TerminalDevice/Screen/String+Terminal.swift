extension String {
    /// Without what would move a cursor, colour the terminal or turn the direction of writing: names and titles come
    /// from outside.
    package var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.compactMap(Self.printable)))
    }

    private static func printable(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.properties.generalCategory {
        case .control: return scalar == "\t" || scalar == "\n" ? " " : nil
        case .lineSeparator, .paragraphSeparator: return " "
        case .format:
            // Zero-width joiners hold emoji together, and Persian and Indic words need both; the rest hides or reorders.
            return scalar == "\u{200C}" || scalar == "\u{200D}" ? scalar : nil
        default: return scalar
        }
    }

    /// No longer than this; a cut shows.
    func truncated(to width: Int) -> String {
        count <= width ? self : prefix(max(width - 1, 0)) + "…"
    }

    /// In lines of at most this width, broken between words where there are any.
    func wrapped(to width: Int) -> [String] {
        guard count > width, width > 0 else { return [self] }
        var lines: [String] = []
        var rest = self[...]
        while rest.count > width {
            let limit = rest.index(rest.startIndex, offsetBy: width)
            // The space may be the first character that does not fit.
            let space = rest[...limit].lastIndex(of: " ")
            let end = space.flatMap { $0 > rest.startIndex ? $0 : nil } ?? limit
            lines.append(String(rest[..<end]))
            rest = rest[end...].drop { $0 == " " }
        }
        return rest.isEmpty ? lines : lines + [String(rest)]
    }
}

extension [String] {
    /// At most this many: the middle makes room for a note that says how many are missing.
    func elided(to limit: Int, note: (Int) -> String) -> [String] {
        guard count > limit else { return self }
        let head = Swift.max(limit - 2, 0)
        return prefix(head) + [note(count - head - 1)] + suffix(1)
    }
}
