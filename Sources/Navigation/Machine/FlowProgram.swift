internal import Support

/// A flow in the form in which machines run it: its rules by the types of their messages, with parsed templates and
/// paths. It is prepared once, when the flow is made, and shared by all machines of the flow.
final class FlowProgram: Sendable {
    let declaration: FlowDeclaration
    /// True if machines tell which rules they apply.
    let tellsRules: Bool
    /// A 64-bit hash of the declaration's JSON, 16 hexadecimal digits.
    let hash: String
    /// The deep links, in the order in which they are tried.
    let links: [PreparedLink]
    let screensWithoutBack: Set<String>
    /// True if a rule waits.
    let hasWaits: Bool
    let acts: Set<Flow.UserAct>
    let messageTypes: Set<String>
    /// The rules of the flow itself.
    private let rules: RuleTable
    /// The rules of the child flows, by their names.
    private let childRules: [String: RuleTable]
    /// The screens that are not opened again while they are in front.
    let onceScreens: Set<String>
    /// The answers to the guards of all rules.
    let answers: [PreparedAnswer]
    private let templates: [String: Template]

    init(_ declaration: FlowDeclaration, tellsRules: Bool = false) {
        self.declaration = declaration
        self.tellsRules = tellsRules
        let json = declaration.effectiveJSON
        var hash = FNV1a()
        hash.combine(json.description)
        self.hash = hash.hexadecimal
        let screens = declaration.screens.values
        let links = declaration.links
        let transitions = declaration.transitions + declaration.flows.values.flatMap(\.transitions)
        self.links = links.enumerated().map { PreparedLink($1, index: $0, uses: declaration.uses(of: $1)) }
        screensWithoutBack = Set(screens.lazy.filter { !$0.back }.map(\.name))
        hasWaits = transitions.contains { $0.after != nil }
        acts = Set(transitions.flatMap(\.on).compactMap { Flow.UserAct(rawValue: $0) })
        messageTypes = Set(transitions.flatMap(\.messageTypes).filter { !Flow.isUnpublished($0) })
            .union(ViewReport.allCases.map(\.rawValue)).union([Flow.requestType])
            .union(links.isEmpty ? [] : [Machine.deepLinkReceived])
        onceScreens = Set(screens.lazy.filter(\.once).map(\.name))
        rules = RuleTable(declaration.transitions, of: nil, hasLinks: !links.isEmpty)
        childRules = Dictionary(
            uniqueKeysWithValues: declaration.flows.map { ($0, RuleTable($1.transitions, of: $0)) })
        answers = ([rules] + childRules.values).flatMap(\.all).flatMap { [$0.accept, $0.reject].compactMap(\.self) }
        templates = Template.all(in: json)
    }

    /// The rules of a child flow; nil for the name means those of the flow itself. Empty for an unknown name.
    func rules(of child: String?) -> RuleTable {
        guard let child else { return rules }
        return childRules[child] ?? .empty
    }

    /// The segments of a string in the flow, or in an action that a view requests.
    ///
    /// - Throws: ``Template/Problem/unclosed`` if a placeholder is not closed.
    func segments(of source: String) throws(Template.Problem) -> [Template.Segment] {
        guard source.utf8.contains(UInt8(ascii: "$")) else { return [.text(source)] }
        if let template = templates[source] { return template.segments }
        return try Template.segments(of: source)
    }
}

/// The rules of a flow or a child flow.
struct RuleTable: Sendable {
    /// All rules, in the order in which they are tried.
    let all: [PreparedRule]
    /// The rules with `after`.
    let waiting: [PreparedRule]
    private let answers: [String: Answer]

    /// The answer of a flow to messages of one type.
    struct Answer: Sendable {
        /// The message, if machines handle it in the same way for every flow. Nil for other messages.
        var known: KnownMessage?
        /// The rules on this type, in the order in which they are tried.
        var rules: [PreparedRule] = []
    }

    static let empty = RuleTable([], of: nil)

    /// - Parameters:
    ///   - child: The child flow. Nil for the flow itself.
    ///   - hasLinks: True for a flow with links.
    init(_ transitions: [Flow.Transition], of child: String?, hasLinks: Bool = false) {
        all = transitions.enumerated().map { PreparedRule($1, keyPath: Flow.keyPath(ofRule: $0, in: child)) }
        waiting = all.filter { $0.transition.after != nil }
        var answers: [String: Answer] = [:]
        for rule in all { for type in rule.transition.on { answers[type, default: Answer()].rules.append(rule) } }
        for report in ViewReport.allCases { answers[report.rawValue, default: Answer()].known = .report(report) }
        answers[Machine.deadlinePassed, default: Answer()].known = .deadlinePassed
        answers[Flow.requestType, default: Answer()].known = .request
        if hasLinks { answers[Machine.deepLinkReceived, default: Answer()].known = .link }
        self.answers = answers
    }

    /// The answer to messages of this type.
    subscript(type: String) -> Answer { answers[type] ?? Answer() }
}

/// A message that machines handle in the same way for every flow.
enum KnownMessage {
    case report(ViewReport)
    case deadlinePassed
    case request
    case link
}
