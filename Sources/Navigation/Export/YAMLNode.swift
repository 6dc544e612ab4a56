/// A value in the order and the form in which it is written as YAML.
indirect enum YAMLNode {
    /// What a key may be left with.
    case nothing
    case scalar(JSONValue)
    case list([YAMLNode])
    case mapping([(String, YAMLNode)])
}

extension YAMLNode: CustomStringConvertible {
    enum Text {
        /// What fits behind a key.
        case line(String)
        /// What begins below it.
        case block([String])
    }

    /// How long a list may be that stands in one line.
    private static let lineLimit = 80

    /// The whole text, each line with its end.
    var description: String {
        switch text {
        case .line(let line): line + "\n"
        case .block(let lines): lines.map { "\($0)\n" }.joined()
        }
    }

    var text: Text {
        switch self {
        case .nothing: .line("")
        case .scalar(let value): .line(YAMLScalar.text(of: value))
        case .list(let elements):
            line(of: elements).map { .line($0) } ?? .block(elements.flatMap { $0.lines(ofElement: "- ") })
        case .mapping(let members) where members.isEmpty: .line("{}")
        case .mapping(let members): .block(members.flatMap { $1.lines(under: YAMLScalar.text(of: .string($0))) })
        }
    }

    private func lines(under key: String) -> [String] {
        switch text {
        case .line(""): ["\(key):"]
        case .line(let text): ["\(key): \(text)"]
        case .block(let lines): ["\(key):"] + lines.map { "  \($0)" }
        }
    }

    private func lines(ofElement dash: String) -> [String] {
        switch text {
        case .line(let text): [dash + text]
        case .block(let lines): lines.enumerated().map { index, line in (index == 0 ? dash : "  ") + line }
        }
    }

    /// A list in one line, if it is short, and nothing in it needs more quotes than below each other.
    private func line(of elements: [YAMLNode]) -> String? {
        var texts: [String] = []
        for element in elements {
            guard case .scalar(let value) = element, YAMLScalar.isPlainInLists(value) else { return nil }
            texts.append(YAMLScalar.text(of: value))
        }
        let line = "[\(texts.joined(separator: ", "))]"
        return line.count <= Self.lineLimit ? line : nil
    }
}
