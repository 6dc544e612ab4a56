internal import Yams

extension Flow {
    /// Reads a flow from YAML and checks it.
    ///
    /// - Parameters:
    ///   - yaml: The text of the file.
    ///   - file: The name of the file as findings shall call it.
    /// - Throws: ``FlowError`` with everything that is wrong, each finding with its line.
    public init(yaml: String, file: String) throws(FlowError) {
        let document: Node?
        do {
            document = try compose(yaml: yaml)
        } catch {
            throw FlowError(findings: [FlowFinding(yamlError: error, file: file)])
        }
        guard let document else {
            throw FlowError(findings: [
                FlowFinding(source: file, line: 1, message: "the file is empty; describe a flow in it")
            ])
        }
        var reader = YAMLReader(file: file)
        let flow = reader.flow(from: document)
        // Without any screens every name would be reported as unknown, and hide what is really wrong.
        if let flow, !flow.screens.isEmpty {
            var checker = FlowChecker(flow: flow)
            checker.checkUniqueness(of: reader.declared)
            checker.check(reader.trees)
            checker.check()
            for problem in checker.problems { reader.report(problem) }
        }
        guard let flow, reader.findings.isEmpty else {
            throw FlowError(findings: reader.findings.sorted { $0.position < $1.position })
        }
        self = flow
    }
}

extension FlowFinding {
    fileprivate var position: (line: Int, column: Int) { (line ?? 0, column ?? 0) }

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
            let line = offset.map { yaml.prefix($0).count(where: \.isNewline) + 1 }
            self.init(source: file, line: line, message: "malformed YAML: \(problem); save the file as UTF-8")
        default:
            self.init(source: file, message: "malformed YAML; \(advice)")
        }
    }
}
