/// An error, a warning or a note about a flow or a scenario.
public struct FlowFinding: Hashable, Sendable, Encodable, CustomStringConvertible {
    /// The consequence of a finding.
    public enum Severity: String, Hashable, Sendable, CaseIterable, Encodable {
        /// The flow or the scenario cannot be used.
        case error
        /// The flow can be used, but it probably does not do what was intended.
        case warning
        /// The flow can be used. Only its authors can tell if the finding is a mistake.
        case note
    }

    /// The kind of a warning or a note, by which a flow file can acknowledge it.
    public enum Code: String, Hashable, Sendable, CaseIterable, Encodable {
        /// A rule that can never apply, for example because an earlier rule matches the same messages.
        case neverApplies = "never-applies"
        /// Two rules with different actions that can match the same message.
        case competingRules = "competing-rules"
        /// Rules on one message that were not compared, because there are too many.
        case uncomparedRules = "uncompared-rules"
        /// A rule on a command that nothing in the flow sends.
        case unsentCommand = "unsent-command"
        /// A screen that nothing leads to, or a child flow that nothing begins.
        case unreached
        /// A screen that the user cannot leave.
        case deadEnd = "dead-end"
        /// A condition on a place where the flow never shows the screen.
        case wrongPlace = "wrong-place"
        /// An action that can be taken in no state in which its rule applies.
        case impossibleAction = "impossible-action"
        /// An argument that no rule and no link passes to the screen.
        case missingArgument = "missing-argument"
        /// A result that no `finish` of the child flow gives.
        case missingResult = "missing-result"
        /// A message that the app does not have.
        case unknownMessage = "unknown-message"
        /// A field that the message does not have.
        case unknownField = "unknown-field"
        /// A required field that a command is sent without.
        case missingField = "missing-field"
        /// A field or an argument that is given a value of another type.
        case wrongType = "wrong-type"
        /// A template that an escaped dollar sign makes literal text.
        case escapedTemplate = "escaped-template"
        /// A value that the field never has.
        case unknownValue = "unknown-value"
        /// A command that the flow and the app's contract describe differently.
        case contradictedCommand = "contradicted-command"
        /// A type under `commands` that no rule answers.
        case unusedCommand = "unused-command"
        /// A command that no service and no rule handles.
        case unhandledCommand = "unhandled-command"
        /// An event or an error that no rule and no other service handles.
        case unansweredMessage = "unanswered-message"
        /// A type under `ignores` that no service sends.
        case unusedIgnore = "unused-ignore"
        /// A link that opens a screen above another screen than those on which rules push it.
        case unusualBackPath = "unusual-back-path"
        /// A link whose root depends on the state.
        case openRoot = "open-root"
        /// A link that only sends commands, which any web page can open.
        case actionLink = "action-link"
        /// A rule that pushes a screen twice if the user taps twice.
        case doublePush = "double-push"
        /// A form of the language that a newer form replaces.
        case oldForm = "old-form"
        /// An acknowledgement that acknowledges no finding.
        case unusedAcknowledgement = "unused-acknowledgement"
    }

    /// The file name, or `flow NAME` for a flow that was built in Swift.
    public let source: String
    /// The line in the file, from 1. Nil if the position is unknown, as for a flow that was built in Swift.
    public let line: Int?
    /// The column in the line, from 1. Nil if the position is unknown.
    public let column: Int?
    public let severity: Severity
    /// The kind of a warning or a note. Nil for an error.
    public let code: Code?
    /// The problem, usually with its remedy.
    public let message: String

    private enum CodingKeys: String, CodingKey {
        case source = "file"
        case line, column, severity, code, message
    }

    /// The finding in one line in the form of compilers: file, line and column if they are known, severity unless it is
    /// `error`, message, code in brackets.
    public var description: String {
        let position = [line, column].compactMap(\.self).map { ":\($0)" }.joined()
        let kind = severity == .error ? "" : "\(severity.rawValue): "
        return "\(source)\(position): \(kind)\(message)\(code.map { " [\($0.rawValue)]" } ?? "")"
    }

    package init(
        source: String,
        line: Int? = nil,
        column: Int? = nil,
        severity: Severity = .error,
        code: Code? = nil,
        message: String
    ) {
        self.source = source
        self.line = line
        self.column = column
        self.severity = severity
        self.code = code
        self.message = message
    }

    package init(source: String, problem: FlowChecker.Problem) {
        self.init(
            source: source,
            severity: problem.severity,
            code: problem.code,
            message: "\(problem.keyPath): \(problem.message(naming: { $0 }))"
        )
    }
}

/// The error of a flow or a scenario that cannot be used.
public struct FlowError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The findings, at least one.
    public let findings: [FlowFinding]

    package init(findings: [FlowFinding]) {
        self.findings = findings
    }

    /// The stable code of this error for programs.
    public var code: String { "navigation.invalidFlow" }

    /// The findings, one per line.
    public var message: String { findings.map(\.description).joined(separator: "\n") }

    /// The findings, one per line.
    public var description: String { message }
}
