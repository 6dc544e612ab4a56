public import Navigation

/// The result of reading a flow file: the flow, as far as it could be read, and all findings.
package struct FlowReading {
    /// The flow. Nil if the file is not a YAML mapping.
    package private(set) var flow: Flow?
    /// The contents of the file.
    package let yaml: String
    /// The screens of steps without `sends`. The flow leaves open which further commands these screens send.
    package private(set) var openScreens: Set<String> = []
    /// True if every part of the file could be read. The flow may still fail the checks.
    package private(set) var isComplete = false
    private var reader: FlowReader

    package init(yaml: String, file: String) {
        self.yaml = yaml
        reader = FlowReader(file: file)
        let read = reader.document(yaml, "describe a flow in it").flatMap { reader.flow(from: $0) }
        flow = read?.flow
        isComplete = reader.findings.isEmpty
        // Without screens, the checks would report each screen name as unknown.
        guard let (flow, trees, declared) = read else { return }
        openScreens = Set(Flow.steps(of: trees, at: "steps").map(\.step).filter(\.sends.isEmpty).map(\.screen))
        if flow.screens.isEmpty {
            if isComplete { report([FlowChecker.Problem(keyPath: "", message: "the flow has no screens; add one")]) }
            return
        }
        var checker = FlowChecker(flow: flow)
        checker.checkUniqueness(of: declared)
        checker.check(trees)
        checker.check()
        report(checker.problems)
    }

    /// The name of the file in findings.
    package var file: String { reader.file }

    /// The findings, from the beginning of the file to its end.
    package var findings: [FlowFinding] { reader.findings.sorted { $0.position < $1.position } }

    /// The uses of old forms of the language, for example to replace them.
    package var oldForms: [OldForm] { reader.oldForms }

    /// Reports the uses of old forms as warnings.
    package mutating func reportOldForms() {
        for form in reader.oldForms {
            reader.report(
                FlowFinding(
                    source: file, line: form.edits.first?.line, column: form.edits.first?.column, severity: .warning,
                    code: .oldForm, message: form.message))
        }
    }

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
    ///   - yaml: The contents of the file.
    ///   - file: The name of the file in findings.
    /// - Throws: `FlowError` with the findings, if there are any.
    public init(yaml: String, file: String) throws(FlowError) {
        let reading = FlowReading(yaml: yaml, file: file)
        guard let flow = reading.flow, reading.findings.isEmpty else { throw FlowError(findings: reading.findings) }
        self = flow
    }
}
