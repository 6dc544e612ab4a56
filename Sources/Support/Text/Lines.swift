/// Lines of text from outside. A line ends at LF or CRLF, which are not part of the line; a CR alone is part of it.
///
/// Lines are divided by bytes, because CRLF is one Character, which is not LF.
extension BidirectionalCollection<UInt8> where SubSequence: BidirectionalCollection<UInt8> {
    /// The lines of UTF-8, also empty ones. After a last LF there is no further line: an empty text has no lines.
    package var lines: [SubSequence] {
        var lines: [SubSequence] = []
        var rest = self[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(rest[..<end].withoutReturn)
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { lines.append(rest) }
        return lines
    }

    /// The first line, and an empty collection for an empty text.
    package var firstLine: SubSequence {
        firstIndex(of: UInt8(ascii: "\n")).map { self[..<$0].withoutReturn } ?? self[...]
    }

    /// The number of lines that end before `index`.
    package func countLines(before index: Index) -> Int {
        self[..<index].count { $0 == UInt8(ascii: "\n") }
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// A line without the CR before its LF.
    fileprivate var withoutReturn: Self { last == UInt8(ascii: "\r") ? dropLast() : self }
}

extension StringProtocol where SubSequence == Substring {
    /// The lines, also empty ones. After a last LF there is no further line: an empty text has no lines.
    package var lines: [Substring] { self[...].utf8.lines.map(Substring.init) }

    /// The first line, and an empty string for an empty text.
    package var firstLine: Substring { Substring(self[...].utf8.firstLine) }

    /// The text on one line: a space is in the place of whatever some reader takes for the end of a line.
    package var onOneLine: String {
        unicodeScalars.split { "\n\u{B}\u{C}\r\u{85}\u{2028}\u{2029}".unicodeScalars.contains($0) }
            .map { String(String.UnicodeScalarView($0)) }.joined(separator: " ")
    }
}
