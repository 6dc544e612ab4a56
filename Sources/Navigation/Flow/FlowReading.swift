internal import Yams

/// What came of reading a flow's file: the flow, as far as it could be read, and everything that is wrong with it.
struct FlowReading {
    /// nil when nothing could be made of the file.
    private(set) var flow: Flow?
    /// Whether the flow is all that the file says.
    private(set) var isComplete = false
    private var reader: YAMLReader

    /// Reads a file and checks the flow.
    init(yaml: String, file: String) {
        reader = YAMLReader(file: file)
        do {
            guard let document = try compose(yaml: yaml) else {
                reader.report(
                    FlowFinding(
                        source: file, line: 1, column: 1, message: "the file is empty; describe a flow in it"))
                return
            }
            flow = reader.flow(from: document)
        } catch {
            reader.report(FlowFinding(yamlError: error, file: file))
        }
        isComplete = reader.findings.isEmpty
        // Without any screens every name would be reported as unknown, and hide what is really wrong.
        guard let flow, !flow.screens.isEmpty else { return }
        var checker = FlowChecker(flow: flow)
        checker.check()
        report(checker.problems)
    }

    /// What is wrong, from the file's beginning to its end.
    var findings: [FlowFinding] { reader.findings.sorted { $0.position < $1.position } }

    mutating func report(_ problems: [FlowChecker.Problem]) {
        for problem in problems { reader.report(problem) }
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
