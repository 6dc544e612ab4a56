package import FlowReview
package import Navigation
internal import Support

/// A mistake that an exploration has found in a flow.
package struct ExplorationFinding {
    package let problem: FlowChecker.Problem
    /// A story that shows it. Nil if it is about something that never happens.
    package let story: Story?
}

extension FlowExplorer {
    /// The mistakes in one of the flows. If something was not explored, they are not proved.
    package func findings(in flow: Int) -> [ExplorationFinding] {
        let waits = answers.isKnown ? flows[flow].unansweredQuestions(catalogue) : []
        let unanswered = waits.compactMap { $0.keyPath.cut(atLast: ".")?.before }
        let violations = violations(in: flow) + waits.map { ExplorationFinding(problem: $0, story: nil) }
        // Views or screens that may send anything lead to states of which the exploration knows nothing.
        if exploration.limits.contains(where: \.hidesEverything) { return violations }
        let coverage = exploration.coverages[flow]
        let loops = loops(of: flow)
        let places = exploration.coverages.count > 1 ? " on any of the platforms" : ""
        let screens = coverage.unreachedScreens.map { screen in
            finding(
                .unreached, "no message leads to screen '\(screen)'; remove it, or correct the rules",
                "screens.\(screen)")
        }
        let unused = coverage.unusedPlaces.filter { place in
            // The finding about the guard says why.
            !unanswered.contains { place.begins(with: "\($0).") }
        }.map { place in
            finding(
                .neverApplies,
                "no message\(places) leads to this in any state; remove it, or correct the conditions", place)
        }
        let failing = coverage.failingPlaces.compactMap { place -> ExplorationFinding? in
            guard let failure = coverage.uses[place]?.failure else { return nil }
            return finding(
                .impossibleAction, "the actions fail whenever this applies: \(failure.error.message)", place,
                story(of: failure.origin, in: flow))
        }
        let sometimes = coverage.sometimesFailingPlaces.compactMap { place -> ExplorationFinding? in
            guard let failure = coverage.uses[place]?.ownFailure else { return nil }
            return ExplorationFinding(
                problem: FlowChecker.Problem(
                    keyPath: place,
                    message:
                        "in some states the actions fail: \(failure.error.message); add a condition, or 'ifPossible'",
                    severity: .note, code: .impossibleAction),
                story: story(of: failure.origin, in: flow))
        }
        let idle = coverage.idlePlaces.compactMap { place -> ExplorationFinding? in
            guard let origin = coverage.uses[place]?.first else { return nil }
            return finding(
                .impossibleAction, "the actions change nothing whenever this applies; correct or remove it", place,
                story(of: origin, in: flow))
        }
        return violations + loops + screens + unused + failing + sometimes + idle + traps(in: flow)
            + openAnswers(of: coverage, in: flow) + gates(of: flow) + disagreements(in: flow)
    }

    /// The mistakes in a flow, as far as a small exploration proves them: if the other platforms of its sessions do what
    /// they want.
    /// - Parameter openScreens: The screens that may send further commands than those that they declare.
    /// - Returns: Nil if not everything could be explored.
    package static func problems(
        of flow: Flow, _ messages: MessageCatalogue?, openScreens: Set<String>
    ) -> [FlowChecker.Problem]? {
        var explorer = FlowExplorer(
            [flow], messages: messages?.withoutAnswers ?? MessageCatalogue([:]), hasOthers: true,
            openScreens: openScreens, limit: 500)
        if !explorer.exploration.isWhole { return nil }
        guard explorer.explore().isWhole else { return nil }
        return explorer.findings(in: 0).map(\.problem)
    }

    private func violations(in flow: Int) -> [ExplorationFinding] {
        exploration.coverages[flow].flow.properties.enumerated().compactMap { index, property in
            guard isMeant(property, in: flow) else {
                return finding(
                    .violatedProperty, "this is about no state; correct 'when' and 'unless'",
                    Flow.keyPath(ofProperty: index))
            }
            guard let state = violation(of: property, in: flow) else { return nil }
            let story = story(to: state, in: flow)
            let place = state == 0 ? "in the first state" : "in a state"
            let message =
                switch property.kind {
                case .always: "this does not hold \(place)"
                case .never: "this holds \(place)"
                case .canReach: "\(place), nothing but a URL leads to one in which this holds"
                }
            return finding(
                .violatedProperty, "\(message); correct the rules or the property",
                "\(Flow.keyPath(ofProperty: index)).\(property.kind.rawValue)", story,
                isProved: property.kind == .canReach ? nil : story.isTimely)
        }
    }

    private func loops(of flow: Int) -> [ExplorationFinding] {
        guard let loop = exploration.endless, let place = loop.places[flow] else { return [] }
        return [
            finding(
                .endless,
                "'\(loop.types.joined(separator: "' and '"))' are sent again and again, without end; remove one of these "
                    + "actions, or let the rule change its conditions",
                "\(place).do", story(of: loop.origin, in: flow), isProved: true)
        ]
    }

    private func openAnswers(of coverage: FlowCoverage, in flow: Int) -> [ExplorationFinding] {
        coverage.openAnswers.compactMap { answer, origin in
            guard
                let place = coverage.flow.placedRules.first(where: { $0.transition.name == answer.rule })?.rule.keyPath
            else { return nil }
            let data = answer.data == [:] ? "" : " with \(answer.data)"
            return finding(
                .deadEnd,
                "no branch takes the answer '\(answer.type)'\(data), so the rule waits for its deadline; add one",
                "\(place).guard", story(of: origin, in: flow))
        }
    }

    private func gates(of flow: Int) -> [ExplorationFinding] {
        guard let (state, gates) = endlessGate(of: flow), let gate = gates.last else { return [] }
        return [
            finding(
                .deadEnd, "nothing closes the gate '\(gate)', so no URL is followed any more; add a rule",
                "screens.\(gate)", story(to: state, in: flow))
        ]
    }

    private func disagreements(in flow: Int) -> [ExplorationFinding] {
        guard let (state, roots, stuck) = disagreement(), stuck.contains(flow) else { return [] }
        return [
            finding(
                .deadEnd,
                "from here on, the root of each platform is another one ('\(roots.joined(separator: "', '"))'), and "
                    + "nothing brings them together; add a rule that leads from '\(roots[flow])' to another root",
                "screens.\(roots[flow])", story(to: state, in: flow))
        ]
    }

    /// A flow may end with a root or a path that lets the user do nothing, unless a rule names it to lead away from it.
    private func traps(in flow: Int) -> [ExplorationFinding] {
        let screens = flows[flow].screens
        let left = flows[flow].leftScreens
        return traps(of: flow).compactMap { trap in
            guard trap.isPresented || screens[trap.screen]?.sends.isEmpty == false || left.contains(trap.screen) else {
                return nil
            }
            let exit = trap.isInFront ? "leads from '\(trap.screen)' to another screen" : "dismisses '\(trap.screen)'"
            let missing = trap.missing.map { "'\($0)'" }.joined(separator: " or ")
            let condition = missing.isEmpty ? "" : ", unless \(missing) comes again"
            return finding(
                .deadEnd, "nothing but a new launch or a URL \(exit)\(condition); add a rule", "screens.\(trap.screen)",
                story(to: trap.state, in: flow))
        }
    }

    private func finding(
        _ code: FlowFinding.Code, _ message: String, _ keyPath: String, _ story: Story? = nil, isProved: Bool? = nil
    ) -> ExplorationFinding {
        let isProved = isProved ?? exploration.isWhole && story?.isTimely != false
        return ExplorationFinding(
            problem: FlowChecker.Problem(
                keyPath: keyPath, message: isProved ? message : "\(message) (not proved)",
                severity: isProved ? .warning : .note, code: code),
            story: story)
    }
}

extension Flow {
    /// The screens that conditions of rules name as what is shown, if the rules lead to another screen.
    fileprivate var leftScreens: Set<String> {
        let leading: Set<ActionName> = [.setRoot, .push, .goTo, .replacePath, .present, .show]
        return Set(
            placedRules.map(\.transition).filter { $0.possibleActions.contains { leading.contains($0.name) } }
                .flatMap(\.when).filter { $0.scope != .sender }.flatMap(\.screens).map(\.screen))
    }
}
