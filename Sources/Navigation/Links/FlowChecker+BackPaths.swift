extension FlowChecker {
    /// Going back from a screen that a link opened should lead where it leads when the app itself opened the screen.
    mutating func checkBackPath(of link: Flow.Link, at place: String) {
        if link.roots.isEmpty {
            report(
                "the link does not say on which root it lies, so back from it leads anywhere; add 'root' to 'to', or "
                    + "'root' to 'when'",
                at: "\(place).to")
        }
        var beneath = link.roots
        for (index, destination) in link.to.path.enumerated() {
            let usual = screens(beneath: destination.screen)
            if !usual.isEmpty, !beneath.isEmpty, usual.isDisjoint(with: beneath) {
                let names = usual.sorted().joined(separator: "' or '")
                report(
                    "the link has no back path: '\(destination.screen)' is reached from '\(names)'; put that before it",
                    at: "\(place).to.path[\(index)]")
            }
            beneath = [destination.screen]
        }
    }

    /// The screens that rules push a screen on, as far as rules tell.
    private func screens(beneath screen: String) -> Set<String> {
        var beneath = Set<String>()
        for rule in flow.transitions {
            // What is in front within the rule, once an action of its own has put it there.
            var front: [String]?
            for action in rule.actions {
                switch action {
                case .push(let pushed):
                    if pushed.screen == screen { beneath.formUnion(front ?? origins(of: rule)) }
                    front = [pushed.screen]
                case .replacePath(let path):
                    for (lower, upper) in zip([nil] + path.map(\.screen), path) where upper.screen == screen {
                        beneath.formUnion(lower.map { [$0] } ?? screens(in: .root, of: rule))
                    }
                    front = path.last.map { [$0.screen] } ?? screens(in: .root, of: rule)
                case .setRoot(let root, _): front = [root.screen]
                case .present(let presented, _, _): front = [presented.screen]
                case .send, .openURL: break
                default: front = nil
                }
            }
        }
        return beneath.subtracting([screen])
    }

    /// Where a rule begins: the screen that must be in front, or those that send its message, or the root.
    private func origins(of rule: Flow.Transition) -> [String] {
        let top = screens(in: .top, of: rule)
        if !top.isEmpty { return top }
        let senders = flow.screens.values.filter { $0.sends.contains(rule.on) }.map(\.name)
        return senders.isEmpty ? screens(in: .root, of: rule) : senders
    }

    private func screens(in place: Flow.Condition.Place, of rule: Flow.Transition) -> [String] {
        rule.when.filter { $0.place == place }.flatMap(\.screens)
    }
}
