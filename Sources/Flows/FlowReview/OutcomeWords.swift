internal import Navigation
internal import Support

/// The happenings of a step of a scenario, in words: what has changed, what the machine sends, and by which rule.
package struct OutcomeWords: Hashable, Sendable {
    private let parts: [String]
    /// The line of the rule that applied. Nil if no rule has changed the state.
    private let location: RuleLocation?

    /// The words for a step that was not possible.
    init() {
        parts = []
        location = nil
    }

    /// - Parameter inputs: The messages of the step.
    init(of machine: Machine, from former: Machine, _ inputs: [Machine.Input], _ effects: [Machine.Effect]) {
        let change = NavigationChange(to: machine.snapshot, from: former.snapshot)
        let words = (change.isEmpty ? [] : [change.description]) + effects.compactMap(Self.words)
        parts = words.isEmpty && inputs.count == 1 ? Self.reason(of: former, inputs[0]) : words
        // A rule that was in effect before is not the reason for this step.
        let rule = machine.revision == former.revision || change.isEmpty ? nil : machine.rule
        location = rule.flatMap { machine.flow.ruleLocations[$0] }
    }

    /// The reason why a message has changed nothing and has no effect. Empty if rules do not answer such messages.
    private static func reason(of machine: Machine, _ input: Machine.Input) -> [String] {
        let flow = machine.flow
        guard ViewReport(rawValue: input.type) == nil,
            ![Flow.requestType, Machine.deadlinePassed].contains(input.type),
            input.type != Machine.deepLinkReceived || flow.links.isEmpty
        else { return [] }
        func line(_ rule: String) -> String { flow.ruleLocations[rule].map(\.description) ?? rule }
        return switch machine.search(input) {
        case .none: ["nothing: no rule answers \(input.type)"]
        case .missed(let rule, let condition):
            ["nothing: no rule matches; in the nearest one, \(line(rule)), '\(condition)' does not hold"]
        case .found(let rule): ["nothing: the rule \(line(rule)) changes nothing"]
        }
    }

    /// The words for an effect. Nil if they follow from the change.
    private static func words(for effect: Machine.Effect) -> String? {
        switch effect {
        case .openURL(let url): "opens \(JSONValue.string(url).summary)"
        case .send(let type, let data): "sends \(type)\(fields(data))"
        case .ask(_, let type, let data, _, _): "asks \(type)\(fields(data))"
        case .messageDiscarded(_, let reason): "discarded: \(reason)"
        case .failed(let failure): "failed: \(failure.description)"
        case .applied, .began, .passed, .expectAnswer, .expectScreenGone, .screenDismissed, .commandExpired: nil
        }
    }

    private static func fields(_ data: JSONValue) -> String { data == [:] ? "" : " \(data.summary)" }
}

extension OutcomeWords: CustomStringConvertible {
    package var description: String {
        let text = parts.isEmpty ? "nothing" : parts.joined(separator: " · ")
        return text + (location.map { "  \($0)" } ?? "")
    }
}
