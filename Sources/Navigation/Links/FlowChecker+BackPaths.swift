extension FlowChecker {
    /// Going back from a screen that a link opened should lead where it leads when the app itself opened the screen.
    mutating func checkBackPath(of link: Flow.Link, at place: String) {
        if link.roots.isEmpty {
            report(
                "the link does not say on which root it lies, so back from it leads anywhere; add 'root' to 'to', or "
                    + "'root' to 'when'",
                at: "\(place).to")
        }
        checkBackPath(link.to.path, on: link.roots + link.to.firsts, at: "\(place).to.path")
        for (name, column) in link.to.columns.sorted(by: { $0.key < $1.key }) {
            checkBackPath(column.path, on: [column.first.screen], at: "\(place).to.columns.\(name).path")
        }
    }

    private mutating func checkBackPath(_ path: [Flow.Destination], on base: [String], at place: String) {
        var beneath = base
        for (index, destination) in path.enumerated() {
            let usual = screens(beneath: destination.screen)
            if !usual.isEmpty, !beneath.isEmpty, usual.isDisjoint(with: beneath) {
                let names = usual.sorted().joined(separator: "' or '")
                report(
                    "the link has no back path: '\(destination.screen)' is reached from '\(names)'; put that before it",
                    at: "\(place)[\(index)]")
            }
            beneath = [destination.screen]
        }
    }

    /// The screens that rules push a screen on, as far as rules tell.
    private func screens(beneath screen: String) -> Set<String> {
        var beneath = Set<String>()
        for rule in flow.allTransitions {
            // What is in front within the rule, once an action of its own has put it there.
            var front: [String]?
            for action in rule.actions {
                switch action {
                // What lies in another column, rules do not tell.
                case .push(_, column: _?), .pushFlow(_, _, column: _?): break
                case .push(let pushed, column: nil):
                    if pushed.screen == screen { beneath.formUnion(front ?? origins(of: rule)) }
                    front = [pushed.screen]
                case .pushFlow(let name, _, column: nil):
                    let first = flow.flows[name]?.start
                    if first == screen { beneath.formUnion(front ?? origins(of: rule)) }
                    front = first.map { [$0] }
                case .replacePath(let path):
                    for (lower, upper) in zip([nil] + path.map(\.screen), path) where upper.screen == screen {
                        beneath.formUnion(lower.map { [$0] } ?? screens(in: .root, of: rule))
                    }
                    front = path.last.map { [$0.screen] } ?? screens(in: .root, of: rule)
                case .setRoot(let root, _): front = [root.screen]
                case .present(let presented, _, _): front = [presented.screen]
                case .presentFlow(let name, _, _, _): front = flow.flows[name].map { [$0.start] }
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
        rule.when.filter { $0.place == place }.flatMap { $0.screens.map(\.screen) }
    }
}

extension Flow.Link.Target {
    /// The first screens of the tabs that its path may lie on.
    fileprivate var firsts: [String] {
        guard case .tabs(let tabs) = root?.container else { return [] }
        return tabs.filter { tab == nil || tab == $0.name }.map(\.destination.screen)
    }
}
