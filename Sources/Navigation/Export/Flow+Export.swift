extension Flow {
    /// The flow as a YAML file that people like to read: in the order in which the documents explain it, without quotes
    /// that nothing needs and without what holds unless said. Reading it gives an equal flow.
    public var yaml: String {
        guard case .mapping(let members) = YAMLNode(flow: json) else { return "" }
        return members.enumerated()
            .map { index, member in
                let text = YAMLNode.mapping([member])
                // What goes on over several lines is set apart.
                guard case .block(let lines) = text.text, index > 0, lines.count > 1 else { return text.description }
                let isOfRules = ["transitions", "links"].contains(member.0)
                return "\n" + (isOfRules ? Self.spaced(lines) : lines).map { "\($0)\n" }.joined()
            }
            .joined()
    }

    /// An empty line between two rules, of messages or of URLs.
    private static func spaced(_ lines: [String]) -> [String] {
        lines.enumerated().flatMap { index, line in index > 1 && line.hasPrefix("  - ") ? ["", line] : [line] }
    }
}
