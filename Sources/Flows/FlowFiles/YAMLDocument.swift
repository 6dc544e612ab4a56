package import Navigation
internal import Support
internal import Yams

extension FlowReader {
    /// Parses a YAML file. Nil, with a finding, if the file is empty or not valid YAML.
    ///
    /// - Parameter advice: The remedy for an empty file.
    package mutating func document(_ yaml: String, _ advice: String) -> FlowNode? {
        do {
            if let document = try compose(yaml: yaml) { return FlowNode(document) }
            report(FlowFinding(source: file, line: 1, column: 1, message: "the file is empty; \(advice)"))
        } catch {
            report(FlowFinding(yamlError: error, file: file))
        }
        return nil
    }
}

extension FlowNode {
    fileprivate init(_ node: Node) {
        let content: Content =
            switch node {
            case .scalar(let scalar): .scalar(Scalar(scalar.string, YAMLScalar.value(of: scalar)))
            case .sequence(let elements): .sequence(elements.map { FlowNode($0) })
            case .mapping(let members): .mapping(members.map { (FlowNode($0.key), FlowNode($0.value)) })
            case .alias: .alias
            }
        self.init(content, at: node.mark.map { Mark(line: $0.line, column: $0.column) })
    }
}

extension FlowFinding {
    /// Creates a finding from an error of the Yams parser.
    fileprivate init(yamlError error: any Error, file: String) {
        let advice = "check its indentation, quotes and brackets"
        switch error {
        case YamlError.scanner(_, let problem, let mark, _),
            YamlError.parser(_, let problem, let mark, _),
            YamlError.composer(_, let problem, let mark, _):
            self.init(
                source: file,
                line: mark.line,
                column: mark.column,
                message: "malformed YAML: \(problem); \(advice)"
            )
        case YamlError.duplicatedKeysInMapping(let duplicates, let context):
            let keys = duplicates.map { "'\($0)'" }.joined(separator: ", ")
            self.init(
                source: file,
                line: context.mark.line,
                column: context.mark.column,
                message: "duplicate key \(keys); remove one of them"
            )
        case YamlError.reader(let problem, let offset, _, let yaml):
            let before = offset.map { yaml.prefix($0) }
            self.init(
                source: file,
                line: before.map { $0.count(where: \.isNewline) + 1 },
                column: before.map { $0.reversed().prefix { !$0.isNewline }.count + 1 },
                message: "malformed YAML: \(problem); remove the character"
            )
        default:
            self.init(source: file, line: 1, column: 1, message: "malformed YAML; \(advice)")
        }
    }
}

extension YAMLScalar {
    /// Converts a plain scalar. Yams follows YAML 1.1, in which `on`, `yes` and `no` are booleans, `1:30` is a number
    /// and `2026-11-21` is a date. Here all of these are strings, as in YAML 1.2.
    static func value(ofPlain text: String) -> JSONValue {
        switch text {
        case "", "~", "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        if let value = Int(text) { return .integer(value) }
        // `Double` also parses `nan` and `infinity`, which are strings here.
        guard text.first.map({ $0.isNumber || "+-.".contains($0) }) == true, let value = Double(text), value.isFinite
        else { return .string(text) }
        return .number(value)
    }

    fileprivate static func value(of scalar: Node.Scalar) -> JSONValue {
        scalar.style == .plain ? value(ofPlain: scalar.string) : .string(scalar.string)
    }
}
