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

    init(of machine: Machine, from former: Machine, _ effects: [Machine.Effect]) {
        let change = NavigationChange(to: machine.snapshot, from: former.snapshot)
        parts = (change.isEmpty ? [] : [change.description]) + effects.compactMap(Self.words)
        // A rule that was in effect before is not the reason for this step.
        let rule = machine.revision == former.revision || change.isEmpty ? nil : machine.rule
        location = rule.flatMap { machine.flow.ruleLocations[$0] }
    }

    /// The words for an effect. Nil if they follow from the change.
    private static func words(for effect: Machine.Effect) -> String? {
        switch effect {
        case .openURL(let url): "opens \(JSONValue.string(url).summary)"
        case .send(let type, let data, instance: _): "sends \(type)\(fields(data))"
        case .ask(_, let type, let data, _, _): "asks \(type)\(fields(data))"
        case .messageDiscarded(_, let reason): "discarded: \(reason)"
        case .failed(let failure): "failed: \(failure.description)"
        case .began, .passed, .expectAnswer, .expectScreenGone, .screenDismissed, .commandExpired: nil
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
