internal import Navigation

extension FlowReviewer {
    /// Lists the links that only send commands, and checks that each other link opens each screen above a screen on
    /// which rules push it.
    mutating func reviewLinks() {
        if flow.links.isEmpty { return }
        let pushes = flow.pushes
        for (index, link) in flow.links.enumerated() {
            let keyPath = "links[\(index)]"
            if link.isAction { addNote(of: link, at: keyPath) }
            if link.to != nil, link.roots.isEmpty {
                warn(
                    .openRoot,
                    "the link names no root, so going back from it may lead anywhere; add 'root' to 'to', or to 'when'",
                    at: "\(keyPath).to")
            }
            if let to = link.to { review(to, on: link.roots, pushes, at: "\(keyPath).to") }
            if let otherwise = link.otherwise {
                let root = otherwise.root.map { [$0.destination.screen] }
                review(otherwise, on: root ?? [], pushes, at: "\(keyPath).otherwise")
            }
        }
    }

    private mutating func addNote(of link: Flow.Link, at keyPath: String) {
        let commands = link.sends.map { "'\($0.type)'" }.joined(separator: " and ")
        addNote(
            .actionLink,
            "any web page can open '\(link.url)'; it sends \(commands); accept this if anybody may send them",
            at: keyPath)
    }

    private mutating func review(
        _ target: Flow.Link.Target, on roots: [String], _ pushes: [String: Set<String>], at keyPath: String
    ) {
        review(target.path, on: roots + target.firsts, pushes, at: "\(keyPath).path")
        for (name, column) in target.columns.sorted(by: { $0.key < $1.key }) {
            review(column.path, on: [column.first.screen], pushes, at: "\(keyPath).columns.\(name).path")
        }
    }

    private mutating func review(
        _ path: [Flow.Destination], on base: [String], _ pushes: [String: Set<String>], at keyPath: String
    ) {
        var beneath = base
        for (index, destination) in path.enumerated() {
            let usual = pushes[destination.screen] ?? []
            if !usual.isEmpty, !beneath.isEmpty, usual.isDisjoint(with: beneath) {
                let names = usual.sorted().joined(separator: "' or '")
                addNote(
                    .unusualBackPath,
                    "rules push '\(destination.screen)' only on '\(names)', and going back from this link leads to "
                        + "another screen",
                    at: "\(keyPath)[\(index)]")
            }
            beneath = [destination.screen]
        }
    }
}

extension Flow {
    /// The screens on which rules push each screen, as far as the rules determine them.
    fileprivate var pushes: [String: Set<String>] {
        var pushes: [String: Set<String>] = [:]
        func push(_ screen: String?, on beneath: [String]) {
            if let screen { pushes[screen, default: []].formUnion(beneath.filter { $0 != screen }) }
        }
        let (senders, presented) = (senders, presentedScreens)
        for rule in allTransitions {
            // The screens that may be in front after the rule's actions so far.
            var front = rule.on.flatMap { type in
                origins(of: rule, on: type, senders: senders, presented: presented).compactMap(\.self)
            }
            for action in rule.actions {
                switch action.unconditional {
                // The rules do not determine which screens lie in a named column.
                case .push(_, on: .column), .pushFlow(_, arguments: _, on: .column): break
                case .push(let pushed, on: nil), .push(let pushed, on: .sender), .goTo(let pushed):
                    push(pushed.screen, on: front)
                    front = [pushed.screen]
                case .pushFlow(let name, arguments: _, on: nil), .pushFlow(let name, arguments: _, on: .sender):
                    let first = flows[name]?.start
                    push(first, on: front)
                    front = first.map { [$0] } ?? []
                case .replacePath(let path):
                    front = rule.screens(in: .root)
                    for pushed in path {
                        push(pushed.screen, on: front)
                        front = [pushed.screen]
                    }
                case .setRoot(let root, container: _): front = [root.screen]
                case .present(let presented, as: _, options: _): front = [presented.screen]
                case .presentFlow(let name, arguments: _, as: _, options: _):
                    front = flows[name].map { [$0.start] } ?? []
                case .send, .openURL: break
                default: front = []
                }
            }
        }
        return pushes
    }
}

extension Flow.Link.Target {
    /// The first screens of the tabs that the target's path may lie on.
    fileprivate var firsts: [String] {
        (root?.container?.tabs ?? []).filter { tab == nil || tab == $0.name }.map(\.destination.screen)
    }
}
