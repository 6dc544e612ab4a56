internal import Support
internal import YAMLText
internal import Yams

extension FlowReader {
    /// Parses a YAML file. Nil, with a finding, if the file is empty, is not valid YAML or has too many values.
    ///
    /// - Parameter advice: The remedy for an empty file.
    package mutating func document(_ yaml: String, _ advice: String) -> FlowNode? {
        do {
            guard let document = try YAMLText.root(of: yaml) else {
                report(FlowFinding(source: file, line: 1, column: 1, message: "the file is empty; \(advice)"))
                return nil
            }
            var nodes = FlowNodes()
            let root = nodes.node(document)
            for key in nodes.duplicates {
                report("duplicate key '\(key.text)'; remove one of them", at: key.node)
            }
            if !nodes.isFull { return root }
            report(
                "the file has more than \(FlowNodes.limit) values with its aliases resolved; use fewer aliases",
                at: root)
        } catch {
            report(FlowFinding(source: file, line: error.line, column: error.column, message: error.description))
        }
        return nil
    }
}

/// Converts the nodes of the YAML parser.
private struct FlowNodes {
    /// The maximum number of nodes in one file after its aliases are resolved. Nodes beyond it are left out. Without a
    /// maximum, aliases of aliases could expand to more than fits into memory.
    static let limit = 1_000_000

    private var count = 0
    /// The keys that occur in a mapping for the second time. For the parser, `1` and `"1"` are different keys.
    private(set) var duplicates: [(text: String, node: FlowNode)] = []

    /// True if nodes were left out.
    var isFull: Bool { count > Self.limit }

    mutating func node(_ node: Node) -> FlowNode {
        count += 1
        let mark = node.mark.map { FlowNode.Mark(line: $0.line, column: $0.column) }
        if isFull { return FlowNode(.alias, at: mark) }
        let content: FlowNode.Content =
            switch node {
            case .scalar(let scalar): .scalar(FlowNode.Scalar(scalar.string, YAMLScalar.value(of: scalar)))
            case .sequence(let elements): .sequence(elements.map { self.node($0) })
            case .mapping(let members): .mapping(self.members(of: members))
            case .alias: .alias
            }
        return FlowNode(content, at: mark)
    }

    private mutating func members(of mapping: Node.Mapping) -> [FlowNode.Member] {
        var names = Set<String>()
        return mapping.map { key, value in
            let key = node(key)
            if case .scalar(let scalar) = key.content, !names.insert(scalar.text).inserted {
                duplicates.append((scalar.text, key))
            }
            return (key, node(value))
        }
    }
}

extension YAMLScalar {
    fileprivate static func value(of scalar: Node.Scalar) -> JSONValue {
        scalar.style == .plain ? value(ofPlain: scalar.string) : .string(scalar.string)
    }
}
