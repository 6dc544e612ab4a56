/// A mistake, or a probable or possible mistake, in a flow or a scenario.
public struct FlowFinding: Hashable, Sendable, CustomStringConvertible {
    /// The consequence of a finding.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// The flow or the scenario cannot be used.
        case error
        /// The flow can be used, but it probably does not do what was intended.
        case warning
        /// The flow can be used. Only its authors can tell if the finding is a mistake.
        case note
    }

    /// The file name, or `flow NAME` for a flow that was built in Swift.
    public let source: String
    /// The line in the file, from 1. Nil if the position is unknown, as for a flow that was built in Swift.
    public let line: Int?
    /// The column in the line, from 1. Nil if the position is unknown.
    public let column: Int?
    public let severity: Severity
    /// The problem, usually with its remedy.
    public let message: String

    /// The finding in one line in the form of compilers: file, line and column if they are known, severity unless it is
    /// `error`, message.
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

/// The error of a flow or a scenario that cannot be used, with all findings.
public struct FlowError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The findings, never empty. Findings of a flow's file are in the order of their positions.
    public let findings: [FlowFinding]

    package init(findings: [FlowFinding]) {
        self.findings = findings
    }

    /// The stable code of this error for programs.
    public var code: String { "navigation.invalidFlow" }

    /// All findings, one per line.
    public var message: String { findings.map(\.description).joined(separator: "\n") }

    /// All findings, one per line.
    public var description: String { message }
}
