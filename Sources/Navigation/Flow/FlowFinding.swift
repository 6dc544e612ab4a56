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

    /// The kind of a warning or a note, by which a flow file can acknowledge it. ``explanation`` describes each kind.
    public enum Code: String, Hashable, Sendable, CaseIterable, Encodable {
        case neverApplies = "never-applies"
        case competingRules = "competing-rules"
        case uncomparedRules = "uncompared-rules"
        case doublePush = "double-push"
        case endless
        case wrongPlace = "wrong-place"
        case impossibleAction = "impossible-action"
        case unreached
        case deadEnd = "dead-end"
        case violatedProperty = "violated-property"
        case missingArgument = "missing-argument"
        case missingResult = "missing-result"
        case escapedTemplate = "escaped-template"
        case unsentCommand = "unsent-command"
        case unusedCommand = "unused-command"
        case unknownField = "unknown-field"
        case unknownValue = "unknown-value"
        case missingField = "missing-field"
        case wrongType = "wrong-type"
        case openRoot = "open-root"
        case unusualBackPath = "unusual-back-path"
        case actionLink = "action-link"
        case oldForm = "old-form"
        case unusedAcknowledgement = "unused-acknowledgement"
        case unknownMessage = "unknown-message"
        case contradictedCommand = "contradicted-command"
        case unhandledCommand = "unhandled-command"
        case unansweredMessage = "unanswered-message"
        case unusedIgnore = "unused-ignore"

        /// True if such findings are found only with the app's messages.
        package var needsMessages: Bool {
            [.unknownMessage, .contradictedCommand, .unhandledCommand, .unansweredMessage, .unusedIgnore].contains(self)
        }

        /// True if the app's messages lead to more such findings than the flow alone.
        package var dependsOnMessages: Bool {
            needsMessages || [.unknownField, .unknownValue, .missingField, .wrongType].contains(self)
        }

        /// True if an exploration leads to more such findings than the check, which explores less.
        package var isExplored: Bool {
            [.neverApplies, .endless, .impossibleAction, .unreached, .deadEnd, .violatedProperty].contains(self)
        }

        /// The mistake or probable mistake, in one or two sentences.
        public var explanation: String {
            switch self {
            case .neverApplies:
                "An earlier rule matches each message that this rule matches, or the conditions of the rule contradict "
                    + "each other, the screens that send its command, or the results of the child flow."
            case .competingRules:
                "Another rule on the same message, with other actions, can match at the same time, and neither is a "
                    + "special case of the other. Exclude the case of one rule from the other with 'unless' or 'where'."
            case .uncomparedRules: "A note: the rules on a message are too many to be compared with each other."
            case .doublePush:
                "Two taps push a screen twice, because a rule on a command of a screen still applies after its push."
            case .endless:
                "Rules that send commands answer each other without end, also those of several platforms, or redirects lead to each "
                    + "other."
            case .wrongPlace:
                "A condition names a part of the state in which the screen never is, such as 'path' for a screen that "
                    + "is never pushed."
            case .impossibleAction:
                "An action fails in every state in which its rule applies, such as 'dismiss' with nothing presented."
            case .unreached: "No rule or link that can apply leads to the screen, or begins the child flow."
            case .deadEnd:
                "The user cannot leave a root, or a presentation that the user cannot dismiss, because no rule leads "
                    + "on. A later root without 'sends' is not reported. Or no service answers the question of a guard."
            case .violatedProperty: "A property of the flow does not hold."
            case .missingArgument: "A rule reads an argument that no rule and no link passes to the screen."
            case .missingResult: "A rule reads a result that no 'finish' of the child flow gives."
            case .escapedTemplate: "$${data.x} is the text ${data.x}, not a template."
            case .unsentCommand:
                "A rule answers a command that no screen, button, rule or link sends. If screens of another platform "
                    + "send it, check both flows together."
            case .unusedCommand: "No rule answers a command under 'commands'."
            case .unknownField: "A condition, a template or sent data names a field that the message does not have."
            case .unknownValue: "A condition requires a value that the field or argument never has."
            case .missingField: "A command is sent without a required field."
            case .wrongType:
                "A field or an argument gets a value of another type or outside its bounds, such as the text of a URL "
                    + "for a number."
            case .openRoot: "A link names no root in 'to' or 'when', so going back from it may lead anywhere."
            case .unusualBackPath: "A note: a link opens a screen above another screen than the rules do."
            case .actionLink: "A note: a link only sends commands, and any web page can open its URL."
            case .oldForm:
                "The flow uses an old form of the language, such as 'pop: NAME'. 'segue flow migrate' replaces it."
            case .unusedAcknowledgement: "A comment accepts a finding that does not exist, or gives no reason."
            case .unknownMessage: "The app has no such message."
            case .contradictedCommand:
                "The app's contract describes a command under 'commands' differently."
            case .unhandledCommand:
                "No service and no rule handles a command that a screen, a button, a rule or a link sends."
            case .unansweredMessage:
                "A note: no rule and no other service handles an event or an error of a service."
            case .unusedIgnore: "No service sends a type under 'ignores'."
            }
        }
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
