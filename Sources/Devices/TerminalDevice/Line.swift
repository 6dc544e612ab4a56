internal import Device
internal import Support

/// A line for a terminal: printable text with hyperlinks.
struct Line: Hashable, Sendable {
    /// A character, and the URL to which it belongs. The URL is nil outside of links.
    private struct Cell: Hashable, Sendable {
        let character: Character
        let url: OpenableURL?
    }

    private var cells: [Cell] = []

    /// - Parameter text: Any text. Only its printable form is used, and URLs that may be opened become links.
    init(_ text: String) {
        var rest = text[...]
        for (range, url) in OpenableURL.found(in: text) {
            append(String(rest[..<range.lowerBound]))
            append(String(text[range]), url: url)
            rest = text[range.upperBound...]
        }
        append(String(rest))
    }

    /// - Parameter label: The text before the URL.
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

    /// The characters of the line, without the escape sequences of links.
    var text: String { String(cells.map(\.character)) }

    /// The URL of the last link. Nil if the line has no link.
    var lastURL: OpenableURL? { cells.last { $0.url != nil }?.url }

    private var columns: Int { cells.reduce(0) { $0 + $1.character.columns } }

    /// The line for a terminal of this width. A line with a URL is wrapped; any other line is cut with an ellipsis.
    func fitted(to width: Int) -> [Line] {
        lastURL == nil ? [truncated(to: width)] : wrapped(to: width)
    }

    /// The line in parts of at most this width, divided between words if possible.
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
        // The space can be the first character that does not fit.
        let space = cells[...limit].lastIndex { $0.character == " " }
        return space.flatMap { $0 > cells.startIndex ? $0 : nil } ?? limit
    }

    /// The index after the last cell that fits, but at least after the first cell.
    private static func limit(of cells: ArraySlice<Cell>, width: Int) -> Int {
        var columns = 0
        for index in cells.indices {
            columns += cells[index].character.columns
            if columns > width, index > cells.startIndex { return index }
        }
        return cells.endIndex
    }

    /// The line, cut to `width` columns with an ellipsis.
    private func truncated(to width: Int) -> Line {
        guard columns > width else { return self }
        let end = width > 1 ? Self.limit(of: cells[...], width: width - 1) : 0
        return Line(cells[..<end] + [Cell(character: "…", url: nil)])
    }

    /// The maximum length of a link in bytes. A longer URL is written without a link. The terminal library VTE has the
    /// same limit.
    private static let maximumLinkLength = 2083

    /// The text with links as OSC 8 escape sequences. All links have the same id. The parts of a wrapped URL, which
    /// have the same id and URL, are one link.
    var hyperlinked: TerminalText {
        var drawn = TerminalText()
        var rest = cells[...]
        while let url = rest.first.map(\.url) {
            let part = rest.prefix { $0.url == url }
            let text = String(part.map(\.character))
            if let url, url.text.utf8.count <= Self.maximumLinkLength {
                drawn += "\u{1B}]8;id=segue;\(url.text)\u{1B}\\\(text)\u{1B}]8;;\u{1B}\\"
            } else {
                drawn += "\(text)"
            }
            rest = rest[part.endIndex...]
        }
        return drawn
    }
}

extension [[Line]] {
    /// The number of lines of all items.
    var lineCount: Int { reduce(0) { $0 + $1.count } }

    /// The items in at most `limit` lines, if possible. If the items have more lines, a note with the number of missing
    /// items replaces items in the middle. The last item and the last item with a URL are always kept. Items are not
    /// divided.
    /// - Parameter note: Returns the note for a number of missing items.
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
