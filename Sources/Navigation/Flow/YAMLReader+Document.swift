internal import Yams

extension YAMLReader {
    /// What a text holds; nil, with a finding, when that is nothing or no YAML.
    mutating func document(_ yaml: String, _ advice: String) -> Node? {
        do {
            if let document = try compose(yaml: yaml) { return document }
            report(FlowFinding(source: file, line: 1, column: 1, message: "the file is empty; \(advice)"))
        } catch {
            report(FlowFinding(yamlError: error, file: file))
        }
        return nil
    }
}

extension FlowFinding {
    /// What Yams says about text that is no YAML.
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
                message: "\(keys) stands twice in one mapping; remove one"
            )
        case YamlError.reader(let problem, let offset, _, let yaml):
            let before = offset.map { yaml.prefix($0) }
            self.init(
                source: file,
                line: before.map { $0.count(where: \.isNewline) + 1 },
                column: before.map { $0.reversed().prefix { !$0.isNewline }.count + 1 },
                message: "malformed YAML: \(problem); save the file as UTF-8"
            )
        default:
            self.init(source: file, line: 1, column: 1, message: "malformed YAML; \(advice)")
        }
    }
}
