internal import FlowReview
package import Navigation
internal import Support

/// A mistake that an exploration has found in a flow.
package struct ExplorationFinding {
    package let problem: FlowChecker.Problem
    /// A story that shows it. Nil if it is about something that never happens.
    package let story: Story?
}

extension FlowExplorer {
    /// The mistakes in one of the flows.
    package func findings(of exploration: Exploration, in flow: Int) -> [ExplorationFinding] {
        let coverage = exploration.coverages[flow]
        let names = exploration.coverages.count > 1 ? " on any of the platforms" : ""
        let screens = coverage.unreachedScreens.map { screen in
            finding(
                .unreached, "no message leads to screen '\(screen)'; remove it, or correct the rules",
                "screens.\(screen)")
        }
        let unused = coverage.unusedRules.map { rule in
            finding(
                .neverApplies,
                "no message\(names) leads to this rule in any state; remove it, or correct its conditions",
                rule)
        }
        let failing = coverage.failingRules.compactMap { rule -> ExplorationFinding? in
            guard let failure = coverage.uses[rule]?.failure else { return nil }
            return finding(
                .impossibleAction, "the actions fail whenever this rule applies: \(failure.error.message)", rule,
                story(of: failure.origin))
        }
        let idle = coverage.idleRules.compactMap { rule -> ExplorationFinding? in
            guard let origin = coverage.uses[rule]?.first else { return nil }
            return finding(
                .impossibleAction, "the actions change nothing whenever this rule applies; correct or remove it", rule,
                story(of: origin))
        }
        return screens + unused + failing + idle + deadEnds(of: exploration, in: flow)
            + openAnswers(of: coverage) + gates(of: flow, screens: coverage.flow.screens)
    }

    private func openAnswers(of coverage: Exploration.Coverage) -> [ExplorationFinding] {
        coverage.openAnswers.compactMap { answer, origin in
            guard
                let place = coverage.flow.placedRules.first(where: { $0.transition.name == answer.rule })?.rule.keyPath
            else { return nil }
            let data = answer.data == [:] ? "" : " with \(answer.data)"
            return finding(
                .deadEnd,
                "no branch takes the answer '\(answer.type)'\(data), so the rule waits for its deadline; add one",
                "\(place).guard", story(of: origin))
        }
    }

    private func gates(of flow: Int, screens: [String: Flow.Screen]) -> [ExplorationFinding] {
        guard let (story, gates) = endlessGate(of: flow), let gate = gates.last else { return [] }
        return [
            finding(
                .deadEnd, "nothing closes the gate '\(gate)', so no URL is followed any more; add a rule",
                "screens.\(gate)",
                story)
        ]
    }

    /// The dead ends in which a screen of the flow lets the user do something. A flow may end with other screens.
    private func deadEnds(of exploration: Exploration, in flow: Int) -> [ExplorationFinding] {
        let screens = exploration.coverages[flow].flow.screens
        var known: Set<[String]> = []
        return exploration.deadEnds.compactMap { end in
            let front = end.screens[flow]
            guard front.contains(where: { screens[$0]?.sends.isEmpty == false }), known.insert(front).inserted,
                let screen = front.last
            else { return nil }
            let exit = end.canRestart ? "only a new launch or a URL leads" : "nothing leads"
            return finding(
                .deadEnd, "\(exit) out of a state with '\(front.joined(separator: "' and '"))' in front; add a rule",
                "screens.\(screen)", story(of: end))
        }
    }

    private func finding(
        _ code: FlowFinding.Code, _ message: String, _ keyPath: String, _ story: Story? = nil
    ) -> ExplorationFinding {
        ExplorationFinding(
            problem: FlowChecker.Problem(keyPath: keyPath, message: message, severity: .warning, code: code),
            story: story)
    }
}
