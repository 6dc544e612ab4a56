extension FlowReviewer {
    /// Finds screens that the user cannot leave. From a path a swipe leads back and most presentations can be taken away;
    /// from a root, or what is presented for good, only rules lead on.
    mutating func reviewTraps() {
        // In an app of one screen there is nowhere else to be.
        guard graph.nodes.count > 1, flow.requests(anyOf: Self.leading).isEmpty else { return }
        for node in graph.nodes where node.isReached {
            let place = "screens.\(node.screen)"
            if isPlainRoot(node.screen), !flow.transitions.contains(where: { leads($0, onFromRoot: node.screen) }) {
                warn("'\(node.screen)' is a trap: no rule leads on when it is the root; add one", at: place)
            }
            if isPresentedForGood(node.screen), flow.requests(anyOf: [.dismiss, .dismissAll]).isEmpty,
                !flow.allTransitions.contains(where: { leads($0, onFromPresented: node.screen) })
            {
                warn(
                    "'\(node.screen)' is a trap: the user cannot dismiss it, and no rule leads on; add one", at: place)
            }
        }
    }

    private static let leading: [Flow.ActionName] = [.setRoot, .push, .replacePath, .present, .selectTab, .show]

    /// Whether it can be a root with nothing beside it.
    private func isPlainRoot(_ screen: String) -> Bool {
        screen == flow.start
            || flow.allTransitions.flatMap(\.possibleActions).contains { action in
                guard case .setRoot(let root, let layout) = action else { return false }
                return root.screen == screen && layout == nil
            }
    }

    private func isPresentedForGood(_ screen: String) -> Bool {
        flow.allTransitions.flatMap(\.possibleActions).contains { action in
            switch action {
            case .present(let destination, let style, let options):
                destination.screen == screen && options.isForGood(style)
            case .presentFlow(let name, _, let style, let options):
                flow.flows[name]?.start == screen && options.isForGood(style)
            default: false
            }
        }
    }

    private func leads(_ rule: Flow.Transition, onFromRoot screen: String) -> Bool {
        guard Flow.Ending(rawValue: rule.on) == nil, isHeard(rule.on, on: screen) else { return false }
        let mayApply = rule.when.allSatisfy { condition in
            switch condition.place {
            case .root, .top, .shown: condition.screens.contains { $0.screen == screen }
            case .path, .presented: condition.screens.isEmpty
            case .tab: false
            }
        }
        let isForbidden = rule.unless.contains { condition in
            switch condition.place {
            case .root, .top, .shown: condition.plainScreens.contains(screen)
            case .path, .presented: condition.screens.isEmpty
            case .tab: false
            }
        }
        return mayApply && !isForbidden
            && rule.possibleActions.contains { action in
                if case .setRoot(let root, nil) = action { return root.screen != screen }
                return Self.leading.contains(action.name)
            }
    }

    private func leads(_ rule: Flow.Transition, onFromPresented screen: String) -> Bool {
        let places: [Flow.Condition.Place] = [.top, .shown, .presented]
        return isHeard(rule.on, on: screen)
            && rule.when.allSatisfy { condition in
                !places.contains(condition.place) || condition.screens.contains { $0.screen == screen }
            }
            && !rule.unless.contains { places.contains($0.place) && $0.plainScreens.contains(screen) }
            && rule.possibleActions.contains { action in
                (Self.leading + [.dismiss, .dismissAll, .finish, .abandon]).contains(action.name)
            }
    }

    /// Whether a message can come while the screen is in front: a command of other screens cannot.
    private func isHeard(_ type: String, on screen: String) -> Bool {
        senders[type]?.contains(screen) ?? true
    }
}

extension PresentationOptions {
    fileprivate func isForGood(_ style: PresentationStyle) -> Bool {
        !style.isQuestion && (style == .fullScreen || interactiveDismissal == false)
    }
}
