public import Navigation

/// What came of reading a flow's file: the flow, as far as it could be read, and everything that is wrong with it.
package struct FlowReading {
    /// nil when nothing could be made of the file.
    package private(set) var flow: Flow?
    /// Whether the flow is all that the file says.
    package private(set) var isComplete = false
    private var reader: FlowReader

    /// Reads a file and checks the flow.
    package init(yaml: String, file: String) {
        reader = FlowReader(file: file)
        let read = reader.document(yaml, "describe a flow in it").flatMap { reader.flow(from: $0) }
        flow = read?.flow
        isComplete = reader.findings.isEmpty
        // Without any screens every name would be reported as unknown, and hide what is really wrong.
        guard let (flow, trees, declared) = read, !flow.screens.isEmpty else { return }
        var checker = FlowChecker(flow: flow)
        checker.checkUniqueness(of: declared)
        checker.check(trees)
        checker.check()
        report(checker.problems)
    }

    /// What is wrong, from the file's beginning to its end.
    package var findings: [FlowFinding] { reader.findings.sorted { $0.position < $1.position } }

    package mutating func report(_ problems: [FlowChecker.Problem]) {
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
