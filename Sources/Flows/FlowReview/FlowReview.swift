package import FlowFiles
package import Navigation
internal import Support

/// The result of the review of a flow: the flow, and the errors, warnings and notes about it.
package struct FlowReview: Hashable, Sendable {
    /// The flow. Nil if it cannot be used.
    package let flow: Flow?
    /// Errors, warnings and notes, from the file's beginning to its end.
    package let findings: [FlowFinding]

    /// The errors. A flow with errors cannot be used.
    package var errors: [FlowFinding] { findings.filter { $0.severity == .error } }

    /// The probable mistakes. A flow with warnings can be used.
    package var warnings: [FlowFinding] { findings.filter { $0.severity == .warning } }
}

extension FlowReading {
    /// Returns the review of the flow in the file.
    ///
    /// - Parameters:
    ///   - messages: The app's messages. Nil to check only the commands that the flow declares.
    ///   - sentElsewhere: The types of commands that other flows of the app send, such as those of other platforms.
    ///   - explored: What an exploration of everything has found. It counts only if the review has not found the same.
    ///     What it proves to be possible is not reported. Nil if there was none.
    package func review(
        messages: MessageCatalogue? = nil, sentElsewhere: Set<String> = [], explored: [FlowChecker.Problem]? = nil
    ) -> FlowReview {
        var reading = self
        let errors = findings
        reading.reportOldForms()
        // If a part could not be read, or if the flow has too many rules, the review is skipped.
        if isComplete, let flow, flow.ruleCount <= Flow.ruleLimit {
            // If the flow has errors, only its rules, senders and messages are reviewed.
            let problems = FlowReviewer.problems(
                of: flow, messages, sentElsewhere: sentElsewhere, openScreens: openScreens, isWhole: errors.isEmpty)
            let certain = problems.filter { problem in
                guard let explored, problem.isDecidedByExploration else { return true }
                return explored.contains { $0.severity != .note && $0.isAbout(problem) }
            }
            reading.report(certain)
            reading.report((explored ?? []).filter { found in !certain.contains { $0.isAbout(found) } })
        }
        let acknowledgements = Acknowledgements(in: yaml, file: file)
        return FlowReview(
            flow: errors.isEmpty ? flow : nil,
            findings: acknowledgements.applied(to: reading.findings) { code in
                !errors.isEmpty || code.isExplored || messages == nil && code.dependsOnMessages
            })
    }
}

extension FlowChecker.Problem {
    /// True for a screen that the user cannot leave, and for an action that is never possible: an exploration of everything
    /// knows more about them than a review of single rules.
    fileprivate var isDecidedByExploration: Bool {
        code == .deadEnd && keyPath.begins(with: "screens.") || code == .impossibleAction
    }

    /// True if both have the same code, and one has the place of the other or a part of it.
    fileprivate func isAbout(_ other: FlowChecker.Problem) -> Bool {
        code == other.code && (keyPath.begins(with: other.keyPath) || other.keyPath.begins(with: keyPath))
    }
}

extension FlowReading {
    /// A finding of an exploration. Empty if a comment of the file acknowledges it.
    package func unacknowledged(_ problem: FlowChecker.Problem) -> [FlowFinding] {
        var reading = self
        reading.report([problem])
        return Acknowledgements(in: yaml, file: file).applied(to: reading.findings) { _ in true }
            .filter { $0.code == problem.code }
    }
}

extension Flow {
    /// Returns the warnings and notes about a flow that was built in Swift.
    ///
    /// - Parameters:
    ///   - messages: The app's messages. Nil to check only the commands that the flow declares.
    ///   - sentElsewhere: The types of commands that other flows of the app send, such as those of other platforms.
    package func review(messages: MessageCatalogue? = nil, sentElsewhere: Set<String> = []) -> [FlowFinding] {
        FlowReviewer.problems(of: self, messages, sentElsewhere: sentElsewhere)
            .map { FlowFinding(source: "flow \(name)", problem: $0) }
    }

    /// The types of the commands that the flow's screens, buttons, rules and links send.
    package var sentCommands: Set<String> {
        let actions = (placedRules + placedLinks).flatMap(\.transition.possibleActions)
        return Set(senders.keys).union(actions.compactMap(\.command))
    }

    /// The actions among `names` that views may request.
    func requests(anyOf names: [ActionName]) -> [ActionName] { requests.filter(names.contains) }
}

/// Finds probable mistakes in a flow.
struct FlowReviewer {
    let flow: Flow
    let graph: FlowGraph
    /// The screens of the graph, by name.
    let nodes: [String: FlowGraph.Node]
    /// The names of the screens that send each command.
    let senders: [String: Set<String>]
    /// The screens that may send further commands than those that they declare.
    let openScreens: Set<String>
    private(set) var problems: [FlowChecker.Problem] = []

    /// Returns the probable mistakes.
    ///
    /// - Parameters:
    ///   - openScreens: The screens that may send further commands than those that they declare.
    ///   - isWhole: True if the flow is valid. Otherwise only its rules, senders and messages are reviewed.
    static func problems(
        of flow: Flow, _ messages: MessageCatalogue?, sentElsewhere: Set<String>, openScreens: Set<String> = [],
        isWhole: Bool = true
    ) -> [FlowChecker.Problem] {
        var reviewer = FlowReviewer(flow: flow, openScreens: openScreens)
        reviewer.reviewRules()
        reviewer.reviewSenders(sentElsewhere)
        reviewer.reviewCommands(messages)
        let catalogue = (messages ?? .unknown).adding(flow.commands)
        reviewer.reviewMessages(catalogue)
        reviewer.reviewServices(catalogue)
        if isWhole {
            reviewer.reviewGraph()
            reviewer.reviewActions(sentElsewhere)
            reviewer.reviewArguments()
            reviewer.reviewResults()
            reviewer.reviewLinks()
            reviewer.reviewDoublePushes()
            reviewer.reviewLoops()
        }
        return reviewer.problems
    }

    private init(flow: Flow, openScreens: Set<String>) {
        self.flow = flow
        self.openScreens = openScreens
        graph = flow.graph
        nodes = Dictionary(graph.nodes.map { ($0.screen, $0) }) { first, _ in first }
        senders = flow.senders
    }

    mutating func add(_ others: [FlowChecker.Problem]) { problems += others }

    mutating func warn(_ code: FlowFinding.Code, _ message: String, at keyPath: String, see other: String? = nil) {
        problems.append(
            FlowChecker.Problem(keyPath: keyPath, message: message, severity: .warning, code: code, other: other))
    }

    mutating func addNote(_ code: FlowFinding.Code, _ message: String, at keyPath: String) {
        problems.append(FlowChecker.Problem(keyPath: keyPath, message: message, severity: .note, code: code))
    }

    private mutating func reviewSenders(_ sentElsewhere: Set<String>) {
        let sent = flow.sentCommands
        var known = sent
        for (rule, transition) in flow.placedRules {
            for type in transition.on where type.begins(with: "command.") {
                // A rule on a view's report is an error already.
                guard ViewReport(rawValue: type) == nil, type != Flow.requestType else { continue }
                if transition.origin == .any, sentElsewhere.contains(type) { continue }
                let screens = transition.when.filter { $0.scope != .tab }.flatMap(\.screens).map(\.screen)
                if !openScreens.isDisjoint(with: screens) { continue }
                guard known.insert(type).inserted else { continue }
                let nearest = Spelling.nearest(to: type, in: sent)
                let advice = nearest.map { "did you mean '\($0)'?" } ?? "add it to 'sends' of a screen"
                warn(.unsentCommand, "no screen or button sends '\(type)'; \(advice)", at: "\(rule.keyPath).on")
            }
        }
    }
}
