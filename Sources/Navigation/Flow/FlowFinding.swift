/// One thing that is wrong with a flow, or that is surely a mistake.
public struct FlowFinding: Hashable, Sendable, CustomStringConvertible {
    /// What a finding means for those who want to use the flow.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// The flow cannot be used.
        case error
        /// The flow works, but hardly as it was meant to.
        case warning
        /// The flow works; whether this is meant so, only its authors know.
        case note
    }

    /// The file, or the name of the flow when it was built in Swift.
    public let source: String
    /// The line in the file, from 1.
    public let line: Int?
    /// The column in the line, from 1.
    public let column: Int?
    /// What it means for those who want to use the flow.
    public let severity: Severity
    /// What is wrong and what to do.
    public let message: String

    /// The finding in one line, as compilers write theirs: where, what is wrong, what to do.
    public var description: String {
        let position = [line, column].compactMap(\.self).map { ":\($0)" }.joined()
        return "\(source)\(position): \(severity == .error ? "" : "\(severity.rawValue): ")\(message)"
    }

    package init(source: String, line: Int? = nil, column: Int? = nil, severity: Severity = .error, message: String) {
        self.source = source
        self.line = line
        self.column = column
        self.severity = severity
        self.message = message
    }

    package init(source: String, problem: FlowChecker.Problem) {
        self.init(
            source: source,
            severity: problem.severity,
            message: "\(problem.place): \(problem.message(naming: { $0 }))"
        )
    }
}

/// A flow that cannot be used, with all that is wrong with it.
public struct FlowError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, from the file's beginning to its end; never empty.
    public let findings: [FlowFinding]

    package init(findings: [FlowFinding]) {
        self.findings = findings
    }

    /// The stable code by which programs know this error.
    public var code: String { "navigation.invalidFlow" }

    /// All findings, one a line.
    public var message: String { findings.map(\.description).joined(separator: "\n") }

    /// All findings, one a line.
    public var description: String { message }
}
