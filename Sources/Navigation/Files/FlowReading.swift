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
        flow = reader.document(yaml, "describe a flow in it").flatMap { reader.flow(from: $0) }
        isComplete = reader.findings.isEmpty
        // Without any screens every name would be reported as unknown, and hide what is really wrong.
        guard let flow, !flow.screens.isEmpty else { return }
        var checker = FlowChecker(flow: flow)
        checker.checkUniqueness(of: reader.declared)
        checker.check(reader.trees)
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
}

extension Flow {
    /// Reads a flow from YAML and checks it.
    ///
    /// - Parameters:
    ///   - yaml: The text of the file.
    ///   - file: The name of the file as findings shall call it.
    /// - Throws: ``FlowError`` with everything that is wrong, each finding with its line and column.
    public init(yaml: String, file: String) throws(FlowError) {
        let reading = FlowReading(yaml: yaml, file: file)
        guard let flow = reading.flow, reading.findings.isEmpty else { throw FlowError(findings: reading.findings) }
        self = flow
    }
}
