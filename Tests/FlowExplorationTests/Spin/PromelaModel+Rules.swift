import Navigation
import Support

// Rules: conditions and actions.
extension PromelaModel {
    /// An inline for each type, with the rules on it. The first rule applies whose conditions all hold.
    func handlers() throws -> [String] {
        try types.enumerated().map { index, type in
            let rules = flow.transitions.enumerated().filter { $0.element.on.contains(type) }
            let first = try rules.reversed().reduce("0") { rest, rule in
                "(\(try condition(of: rule.element, on: type)) -> \(rule.offset + 1) : \(rest))"
            }
            return """
                /* \(type) */
                inline handle\(index)() {
                    look();
                    applied = \(first);
                    if
                \(try rules.map { try branch($0.element, $0.offset) }.joined(separator: "\n"))
                    :: else -> skip
                    fi
                }

                """
        }
    }

    /// The actions of a rule are one step: if one fails, none is taken.
    private func branch(_ rule: Flow.Transition, _ index: Int) throws -> String {
        guard rule.guard == nil, rule.after == nil, rule.origin == .any else {
            throw Unsupported(description: "guards, times and origins")
        }
        return """
                :: applied == \(index + 1) ->
                    keep();
                    ok = 1;
            \(try steps(rule.actions).joined(separator: "\n"))
                    if
                    :: ok -> \(report("taken", 0, index))
                    :: else -> \(report("failed", 1, index)); undo()
                    fi
            """
    }

    /// Prints once that something has happened to a rule.
    private func report(_ word: String, _ column: Int, _ rule: Int) -> String {
        "c_code { if (!told[\(rule)][\(column)]++) printf(\"\(word) \(rule)\\n\"); }"
    }

    /// Prints that a property is about the present state, and that the stated conditions hold in it.
    func reports(of index: Int, _ property: Flow.Property) throws -> String {
        let about = try property.when.map(written) + property.unless.map { "!\(try written($0))" }
        let holds = try property.conditions.map(written)
        return [("about", about), ("holds", holds)].map { word, parts in
            """
                    if
                    :: \(parts.isEmpty ? "true" : parts.joined(separator: " && ")) ->
                        c_code { printf("\(word) \(index) %s\\n", current); }
                    :: else -> skip
                    fi;
            """
        }.joined(separator: "\n")
    }

    private func condition(of rule: Flow.Transition, on type: String) throws -> String {
        let parts =
            try rule.when.map(written) + rule.unless.map { "!\(try written($0))" }
            + rule.fields.sorted { $0.key < $1.key }.flatMap { try written($0.key, $0.value, of: type) }
        return parts.isEmpty ? "true" : "(\(parts.joined(separator: " && ")))"
    }

    /// The conditions on the field of an act of the user: the screen that was left.
    private func written(_ field: String, _ match: Flow.Match, of type: String) throws -> [String] {
        guard type.begins(with: "user."), field == "screen", match.exists == nil, match.atLeast == nil,
            match.atMost == nil
        else { throw Unsupported(description: "the field '\(field)' of '\(type)'") }
        func isOne(of values: [JSONValue]) throws -> String {
            let screens = try values.map { "sender == \(try number($0.stringValue ?? ""))" }
            return "(\(screens.joined(separator: " || ")))"
        }
        let allowed = try match.anyOf.map { [try isOne(of: $0)] } ?? []
        return match.noneOf.isEmpty ? allowed : allowed + ["!\(try isOne(of: match.noneOf))"]
    }

    private func written(_ condition: Flow.Condition) throws -> String {
        guard condition.screens.allSatisfy(\.arguments.isEmpty) else { throw Unsupported(description: "arguments") }
        if condition.screens.isEmpty {
            switch condition.scope {
            case .path: return "(!pushed)"
            case .presented: return "(layers == 1)"
            case .sender: return "(sender == 0)"
            case .root, .top, .shown, .tab: throw Unsupported(description: "an empty list")
            }
        }
        let parts = try condition.screens.map { screen in
            let number = try number(screen.screen)
            switch condition.scope {
            case .root: return "base[0] == \(number)"
            case .top: return "TOP == \(number)"
            case .path: return "onPath[\(number)]"
            case .presented: return "presented[\(number)]"
            case .shown: return "shown[\(number)]"
            case .sender: return "sender == \(number)"
            case .tab: throw Unsupported(description: "tabs")
            }
        }
        return "(\(parts.joined(separator: " || ")))"
    }

    func steps(_ actions: [Flow.Action]) throws -> [String] {
        try actions.map { action in
            let isOptional = action.unconditional != action
            let written = try written(action.unconditional)
            return "        if :: ok -> \(written)\(isOptional ? "; ok = 1" : "") :: else -> skip fi;"
        }
    }

    private func written(_ action: Flow.Action) throws -> String {
        switch action {
        case .setRoot(let screen, container: nil): return "setRoot(\(try number(screen)))"
        case .push(let screen, on: nil): return "push(\(try number(screen)))"
        case .push(let screen, on: .sender): return "pushOnSender(\(try number(screen)))"
        case .pop(.count(let count), column: nil): return "pop(\(count))"
        case .pop(.to(let screen), column: nil): return "popTo(\(try number(screen)))"
        case .pop(.from(let screen), column: nil): return "popFrom(\(try number(screen)))"
        case .pop(.sender, column: nil): return "popSender()"
        case .popToRoot, .replacePath([]): return "popToRoot()"
        case .goTo(let screen): return "goTo(\(try number(screen)))"
        case .back: return "back()"
        case .replacePath(let path):
            // The same screens at the beginning stay.
            let numbers = try path.map(number)
            let kept = numbers.enumerated().map { index, number in
                "if :: rest == \(index) && length[FRONT] > \(index) && PUSHED(FRONT, \(index)) == \(number) -> rest++ "
                    + ":: else -> skip fi; "
            }
            let added = numbers.enumerated().map { index, number in
                "; if :: rest <= \(index) -> append(\(number)) :: else -> skip fi"
            }
            return "if :: QUESTION(kind[FRONT]) -> ok = 0 :: else -> rest = 0; \(kept.joined())shorten(FRONT, rest)"
                + "\(added.joined()) fi"
        case .present(let screen, as: let style, options: let options):
            guard style != .popover, style != .window else { throw Unsupported(description: "the style \(style)") }
            return "present(\(try number(screen)), \(try number(Kind(style: style, options: options))))"
        case .dismiss(nil): return "dismiss()"
        case .dismiss(.screen(let screen)): return "dismissPresentation(\(try number(screen)))"
        case .dismiss(.sender): return "dismissSender()"
        case .dismissAll: return "dismissAll()"
        default: throw Unsupported(description: "the action '\(action.name)'")
        }
    }
}
