internal import Support

/// Wraps lists in Swift sources at the line length that is swift-format's default.
enum Wrapping {
    static let limit = 100

    /// A list in brackets, such as parameters. If it is too long for one line, its elements are written on lines
    /// between the brackets.
    /// - Parameter indent: the indentation of the first line, in spaces. The result does not contain this indentation;
    ///   its other lines contain their own.
    static func list(opening: String, elements: [String], closing: String, indent: Int) -> String {
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
