internal import Navigation
internal import Support

extension FlowReviewer {
    /// Finds arguments that a rule reads and that no rule and no link passes to the screen.
    mutating func reviewArguments() {
        // A view can request a screen with any arguments.
        guard flow.requests(anyOf: [.setRoot, .push, .goTo, .replacePath, .present, .show]).isEmpty else { return }
        let passed = flow.passedArguments
        let all = flow.screens.keys.sorted()
        for (rule, transition) in flow.placedRules {
            for (key, conditions) in [("when", transition.when), ("unless", transition.unless)] {
                for condition in conditions where condition.scope != .tab {
                    let keyPath = "\(rule.keyPath).\(key).\(condition.scope.rawValue)"
                    for (index, screen) in condition.screens.enumerated() {
                        for name in screen.arguments.keys.sorted() {
                            review(name, of: [screen.screen], passed, at: "\(keyPath)[\(index)]")
                        }
                    }
                }
            }
            let sending = transition.screens(in: .sender)
            let senders = sending.isEmpty ? senders[transition.on]?.sorted() ?? [] : sending
            // If the senders are not known, any screen can be the sender.
            let front = senders.isEmpty ? all : senders + openScreens.sorted() + transition.screens(in: .top)
            for (list, actions) in transition.actionLists {
                for (index, action) in actions.enumerated() {
                    let keyPath = "\(rule.keyPath).\(list)[\(index)]"
                    for template in action.json.texts.compactMap({ try? Template($0) }) {
                        review(template, front: front, passed, at: keyPath)
                    }
                }
            }
        }
    }

    private mutating func review(
        _ template: Template, front: [String], _ passed: [String: Set<String>], at keyPath: String
    ) {
        for path in template.paths(in: .arguments) + template.paths(in: .sender) {
            if let name = path.split(scalar: ".").first { review(String(name), of: front, passed, at: keyPath) }
        }
        for path in template.paths(in: .screens) {
            let parts = path.split(scalar: ".").map(String.init)
            if parts.count > 1 { review(parts[1], of: [parts[0]], passed, at: keyPath) }
        }
    }

    /// Warns if no rule and no link passes the argument to any of the screens.
    private mutating func review(
        _ name: String, of screens: [String], _ passed: [String: Set<String>], at keyPath: String
    ) {
        let known = screens.reduce(into: Set()) { $0.formUnion(passed[$1] ?? []) }
        guard !known.contains(name), screens.contains(where: { nodes[$0]?.isReached == true }) else { return }
        let nearest = Spelling.nearest(to: name, in: known).map { "did you mean '\($0)'?" }
        let names = screens.count > 3 ? "any screen" : "'\(screens.joined(separator: "' or '"))'"
        warn(
            .missingArgument,
            "no rule and no link passes an argument '\(name)' to \(names); "
                + (nearest ?? "pass it where the screen is shown"),
            at: keyPath)
    }

    /// Finds rules on `flow.finished` for child flows that no rule finishes, and rules that use results that no
    /// `finish` gives.
    mutating func reviewResults() {
        let results = flow.flows.mapValues { child in
            child.transitions.flatMap(\.possibleActions).compactMap { action in
                if case .finish(let result) = action { result } else { nil }
            }
        }
        for (rule, transition) in flow.placedRules where transition.on == Flow.Ending.finished.rawValue {
            let named = transition.fields["flow"]?.anyOf?.compactMap(\.stringValue)
            let children = (named ?? flow.flows.keys.sorted()).filter { results[$0] != nil }
            let names = children.joined(separator: "' or '")
            let given = children.flatMap { results[$0] ?? [] }
            guard !given.isEmpty else {
                let reason = children.isEmpty ? "the flow has no child flow" : "no rule of '\(names)' finishes it"
                let advice = children.isEmpty ? "remove this rule" : "add 'finish' there"
                warn(.neverApplies, "\(reason), so this rule never applies; \(advice)", at: "\(rule.keyPath).on")
                continue
            }
            for (path, match) in transition.fields.sorted(by: { $0.key < $1.key }) {
                guard let name = Self.resultName(in: path) else { continue }
                review(
                    match, of: name, isWhole: path == "result.\(name)", given: given, in: names,
                    at: "\(rule.keyPath).where.\(path)")
            }
            for (list, actions) in transition.actionLists {
                for (index, action) in actions.enumerated() {
                    let templates = action.json.texts.compactMap { try? Template($0) }
                    for name in templates.flatMap({ $0.paths(in: .data) }).compactMap(Self.resultName) {
                        review(
                            nil, of: name, isWhole: false, given: given, in: names,
                            at: "\(rule.keyPath).\(list)[\(index)]")
                    }
                }
            }
        }
    }

    /// The name of the result at a path such as `result.kind`. Nil for another path.
    private static func resultName(in path: String) -> String? {
        let parts = path.split(scalar: ".")
        return parts.count > 1 && parts[0] == "result" ? String(parts[1]) : nil
    }

    /// - Parameters:
    ///   - match: The condition on the result. Nil if a template reads the result.
    ///   - isWhole: True if the condition is on the result itself and not on a member of it.
    private mutating func review(
        _ match: Flow.Match?, of name: String, isWhole: Bool, given: [[String: JSONValue]], in flows: String,
        at keyPath: String
    ) {
        let values = given.compactMap { $0[name] }
        if values.isEmpty, match?.holds(for: nil) != true {
            let known = Set(given.flatMap(\.keys))
            let nearest = Spelling.nearest(to: name, in: known).map { "did you mean '\($0)'?" }
            warn(
                .missingResult,
                "no 'finish' of '\(flows)' gives a result '\(name)'; \(nearest ?? "add it there")", at: keyPath)
            return
        }
        let areConstants = values.allSatisfy {
            $0.stringValue.map { !$0.contains(scalars: "${") } ?? ($0.objectValue == nil)
        }
        guard let match, isWhole, areConstants, !values.contains(where: match.holds) else { return }
        let names = Set(values.map { $0.stringValue ?? $0.description }).sorted().joined(separator: ", ")
        guard values.count == given.count || !match.holds(for: nil) else { return }
        warn(
            .neverApplies,
            "'finish' of '\(flows)' gives '\(name)' only as \(names), so this rule never applies; correct the value",
            at: keyPath)
    }
}

extension Flow {
    /// The names of the arguments that rules and links pass to each screen.
    fileprivate var passedArguments: [String: Set<String>] {
        var passed: [String: Set<String>] = [:]
        func pass(_ destination: Destination) {
            passed[destination.screen, default: []].formUnion(destination.arguments.keys)
        }
        func pass(_ arguments: [String: JSONValue], toFlow name: String) {
            if let first = flows[name]?.start { passed[first, default: []].formUnion(arguments.keys) }
        }
        for action in (placedRules + placedLinks).flatMap(\.transition.possibleActions) {
            switch action {
            case .setRoot(let root, container: let layout):
                pass(root)
                for tab in layout?.tabs ?? [] { pass(tab.destination) }
            case .push(let destination, on: _), .present(let destination, as: _, options: _),
                .show(let destination, column: _), .goTo(let destination):
                pass(destination)
            case .replacePath(let path): for destination in path { pass(destination) }
            case .pushFlow(let name, arguments: let arguments, on: _),
                .presentFlow(let name, arguments: let arguments, as: _, options: _):
                pass(arguments, toFlow: name)
            case .pop, .back, .popToRoot, .dismiss, .dismissAll, .selectTab, .openURL, .send, .finish, .abandon,
                .ifPossible:
                break
            }
        }
        return passed
    }
}

extension Flow.Transition {
    /// The rule's lists of actions with the places of the lists in the rule.
    fileprivate var actionLists: [(keyPath: String, actions: [Flow.Action])] {
        [("do", actions), ("guard.rejected", `guard`?.rejected ?? []), ("guard.expired", `guard`?.expired ?? [])]
    }
}
