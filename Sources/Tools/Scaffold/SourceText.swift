internal import Support

/// Wraps lists in Swift sources at the line length that is swift-format's default.
enum Wrapping {
    static let limit = 100

    /// A list in brackets, such as parameters. If it is too long for one line, its elements are written on lines
    /// between the brackets.
    /// - Parameter indent: the indentation of the first line, in spaces. The result does not contain this indentation;
    ///   its other lines contain their own.
    static func list(_ opening: String, _ elements: [String], _ closing: String, indent: Int) -> String {
        let line = opening + elements.joined(separator: ", ") + closing
        if indent + line.count <= limit { return line }
        let inner = filled(elements, separator: ", ", width: limit - indent - 4).map { $0.indented(by: indent + 4) }
        return ([opening] + inner + [closing.indented(by: indent)]).joined(separator: "\n")
    }

    /// Lines of at most `width` characters (more if one element is longer), each with as many elements as fit. Each
    /// line except the last ends with the separator, without spaces at its end.
    static func filled(_ elements: [String], separator: String, width: Int) -> [String] {
        var lines: [String] = []
        for (index, element) in elements.enumerated() {
            let piece = element + (index + 1 < elements.count ? separator : "")
            if let last = lines.last, last.count + piece.trimmed.count <= width {
                lines[lines.count - 1] += piece
            } else {
                lines.append(piece)
            }
        }
        return lines.map { String($0.trimmed) }
    }
}

extension String {
    func indented(by count: Int) -> String { isEmpty ? "" : String(repeating: " ", count: count) + self }
}

/// Insertions into files that a person has written. All other lines and comments stay unchanged.
extension String {
    /// The end of a line in this file.
    var lineEnd: String { contains(scalars: "\r\n") ? "\r\n" : "\n" }

    /// Other lines with the ends of this file's lines. The last line has an end if that of this file has one.
    private func withLines(_ lines: [some StringProtocol]) -> String {
        lines.joined(separator: lineEnd) + (utf8.last == UInt8(ascii: "\n") ? lineEnd : "")
    }

    /// - Returns: the string with lines inserted after the first match; nil if nothing matches.
    func inserting(_ lines: String, behind place: some RegexComponent) -> String? {
        guard let match = firstMatch(of: place) else { return nil }
        return self[..<match.range.upperBound] + "\(lines)\n".lines.joined(separator: lineEnd) + lineEnd
            + self[match.range.upperBound...]
    }

    /// Adds lines at the end of the YAML block that begins with `key:` in the first column.
    ///
    /// - Returns: nil if there is no such block, or if the block is written in braces.
    func appending(_ addition: String, toBlock key: String) -> String? {
        var lines = lines
        let form = #/([a-zA-Z]+):\s*(#.*)?/#.byScalar
        guard let start = lines.firstIndex(where: { $0.wholeMatch(of: form)?.1 == key[...] }) else { return nil }
        let end =
            lines[(start + 1)...].firstIndex {
                !$0.isEmpty && !$0.unicodeScalars.prefix(1).allSatisfy(" \t#-".unicodeScalars.contains)
            } ?? lines.endIndex
        // Blank lines and comments before the next key belong to that key.
        let last = lines[start..<end].lastIndex { !$0.isBlank && $0.removing(prefix: "#") == nil } ?? start
        lines.insert(contentsOf: addition.lines.filter { !$0.isEmpty }, at: last + 1)
        return withLines(lines)
    }

    /// Adds a command to the `sends` of a screen in a flow. Returns the string unchanged if there is no such screen, if
    /// the screen already sends the command, or if its entry is written in another form, such as `sends` on several
    /// lines.
    func adding(_ command: String, toSendsOf screen: String) -> String {
        var lines = lines.map(String.init)
        guard let start = lines.firstIndex(where: { $0.begins(with: "  \(screen):") }) else { return self }
        let end = lines[(start + 1)...].firstIndex { !$0.begins(with: "    ") } ?? lines.endIndex
        let list = #/sends: \[(.*?)\]/#.byScalar
        if let index = lines[start..<end].firstIndex(where: { $0.contains(list) }) {
            guard !lines[index].contains(scalars: command) else { return self }
            lines[index] = lines[index].replacing(list) { "sends: [\($0.1.isEmpty ? "" : "\($0.1), ")\(command)]" }
        } else if lines[start].wholeMatch(of: #/\s*\w+:\s*(#.*)?/#.byScalar) != nil,
            !lines[start..<end].contains(where: { $0.contains(scalars: "sends:") })
        {
            lines.insert("    sends: [\(command)]", at: end)
        }
        return withLines(lines)
    }
}
