/// Lists in sources, broken where a line would become longer than swift-format lets it be unless it is told otherwise.
enum Wrapping {
    static let limit = 100

    /// A list in brackets, such as parameters; where it is too long for one line, the brackets stand on lines of their own.
    /// - Parameter indent: of its first line; all others have it already.
    static func list(_ opening: String, _ elements: [String], _ closing: String, indent: Int) -> String {
        let line = opening + elements.joined(separator: ", ") + closing
        if indent + line.count <= limit { return line }
        let inner = filled(elements, separator: ", ", width: limit - indent - 4).map { $0.indented(by: indent + 4) }
        return ([opening] + inner + [closing.indented(by: indent)]).joined(separator: "\n")
    }

    /// As many elements a line as fit, each line but the last with a separator at its end.
    static func filled(_ elements: [String], separator: String, width: Int) -> [String] {
        var lines: [String] = []
        for (index, element) in elements.enumerated() {
            let piece = element + (index + 1 < elements.count ? separator : "")
            if let last = lines.last, last.count + piece.trimming(while: \.isWhitespace).count <= width {
                lines[lines.count - 1] += piece
            } else {
                lines.append(piece)
            }
        }
        return lines.map { String($0.trimming(while: \.isWhitespace)) }
    }
}

extension String {
    func indented(by count: Int) -> String { isEmpty ? "" : String(repeating: " ", count: count) + self }
}
