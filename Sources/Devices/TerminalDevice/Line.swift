internal import Device

/// A line for a terminal: printable text, parts of which may be hyperlinks.
struct Line: Hashable, Sendable {
    /// A character as it is drawn, and the URL that it is a part of.
    private struct Cell: Hashable, Sendable {
        let character: Character
        let url: OpenableURL?
    }

    private var cells: [Cell] = []

    /// - Parameter text: From anywhere: what would steer the terminal is left out. URLs that may be opened become links.
    init(_ text: String) {
        var rest = text[...]
        for (range, url) in OpenableURL.found(in: text) {
            append(String(rest[..<range.lowerBound]))
            append(String(text[range]), url: url)
            rest = text[range.upperBound...]
        }
        append(String(rest))
    }

    /// - Parameter label: comes before the URL.
    init(_ label: String, _ url: OpenableURL) {
        append("\(label) ")
        append(url.text, url: url)
    }

    private init(_ cells: some Sequence<Cell>) {
        self.cells = Array(cells)
    }

    private mutating func append(_ text: String, url: OpenableURL? = nil) {
        cells += text.printable.map { Cell(character: $0, url: url) }
    }

    static func + (prefix: String, line: Line) -> Line {
        Line(prefix.map { Cell(character: $0, url: nil) } + line.cells)
    }

    /// Without its links, as in a file.
    var text: String { String(cells.map(\.character)) }

    var lastURL: OpenableURL? { cells.last { $0.url != nil }?.url }

    private var columns: Int { cells.reduce(0) { $0 + $1.character.columns } }

    /// This line in a terminal of this width: whole on several lines if a URL is in it, which is never cut; else on one,
    /// on which a cut shows.
    func fitted(to width: Int) -> [Line] {
        lastURL == nil ? [truncated(to: width)] : wrapped(to: width)
    }

    /// In lines of at most this width, broken between words where there are any.
    func wrapped(to width: Int) -> [Line] {
        guard columns > width else { return [self] }
        var lines: [Line] = []
        var rest = cells[...]
        while !rest.isEmpty {
            let end = Self.end(ofLineIn: rest, width: width)
            lines.append(Line(rest[..<end]))
            rest = rest[end...].drop { $0.character == " " }
        }
        return lines
    }

    private static func end(ofLineIn cells: ArraySlice<Cell>, width: Int) -> Int {
        let limit = limit(of: cells, width: width)
        guard limit < cells.endIndex else { return limit }
        // The space may be the first character that does not fit.
        let space = cells[...limit].lastIndex { $0.character == " " }
        return space.flatMap { $0 > cells.startIndex ? $0 : nil } ?? limit
    }

    /// The index after the last cell that fits; at least one cell is taken.
    private static func limit(of cells: ArraySlice<Cell>, width: Int) -> Int {
        var columns = 0
        for index in cells.indices {
            columns += cells[index].character.columns
            if columns > width, index > cells.startIndex { return index }
        }
        return cells.endIndex
    }

    /// This line, cut to `width` columns with an ellipsis.
    private func truncated(to width: Int) -> Line {
        guard columns > width else { return self }
        let end = width > 1 ? Self.limit(of: cells[...], width: width - 1) : 0
        return Line(cells[..<end] + [Cell(character: "…", url: nil)])
    }

    /// VTE ignores a link that is longer, and each piece of a URL carries all of it.
    private static let maximumLinkLength = 2083

    /// With its links as escape sequences, OSC 8. All pieces of a URL have the same id, so that a terminal shows them as
    /// one link; a terminal tells links with one id apart by their URLs.
    var hyperlinked: String {
        var drawn = ""
        var rest = cells[...]
        while let url = rest.first.map(\.url) {
            let part = rest.prefix { $0.url == url }
            let text = String(part.map(\.character))
            if let url, url.text.utf8.count <= Self.maximumLinkLength {
                drawn += "\u{1B}]8;id=segue;\(url.text)\u{1B}\\\(text)\u{1B}]8;;\u{1B}\\"
            } else {
                drawn += text
            }
            rest = rest[part.endIndex...]
        }
        return drawn
    }
}

// MARK: Width

// MARK: Hyperlinks

extension [[Line]] {
    /// The number of lines of all items.
    var lineCount: Int { reduce(0) { $0 + $1.count } }

    /// Each item whole or not at all, and in at most so many lines where that can be: the middle makes room for a note
    /// that says how many are missing. The last item stays, and the last one with a URL, which a key opens.
    func elided(to limit: Int, note: (Int) -> String) -> [Line] {
        guard lineCount > limit else { return flatMap(\.self) }
        let lastLink = lastIndex { item in item.contains { $0.lastURL != nil } }
        let kept = Set([indices.last, lastLink].compactMap(\.self))
        var room = limit - 1 - kept.reduce(0) { $0 + self[$1].count }
        let head =
            indices.first { index in
                if kept.contains(index) { return false }
                room -= self[index].count
                return room < 0
            } ?? count
        let tail = kept.filter { $0 >= head }.sorted()
        let missing = count - head - tail.count
        return self[..<head].flatMap(\.self) + (missing > 0 ? [Line(note(missing))] : []) + tail.flatMap { self[$0] }
    }
}

extension String {
    /// Without what would move a cursor, colour the terminal or turn the direction of writing: names and titles come
    /// from outside.
    var printable: String {
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
}

extension Character {
    /// East Asian characters and emoji, which take two columns (Unicode Standard Annex 11), by and large.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF,
        0x20000...0x3FFFD,
    ]

    /// How many columns of a terminal it takes.
    var columns: Int {
        guard let first = unicodeScalars.first, !isASCII else { return 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        let isWide =
            first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}")
            || Self.wide.contains { $0.contains(first.value) }
        return isWide ? 2 : 1
    }
}
