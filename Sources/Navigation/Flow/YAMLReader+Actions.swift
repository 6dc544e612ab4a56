internal import Yams

extension YAMLReader {
    private static let bareActions: [String: Flow.Action] = [
        "pop": .pop, "popToRoot": .popToRoot, "dismiss": .dismiss(nil), "dismissAll": .dismissAll,
        "finish": .finish(), "abandon": .abandon,
    ]

    private static let actionNames = Flow.ActionName.allCases.map(\.rawValue)

    /// The actions of a rule; nil when none of those that are written can be read.
    mutating func actions(_ node: Node, at place: String) -> [Flow.Action]? {
        guard case .sequence(let elements) = node else {
            report("'do' must be a list of actions, each beginning with '- '", at: node)
            return nil
        }
        var actions: [Flow.Action] = []
        for element in elements {
            let place = "\(place)[\(actions.count)]"
            if let action = action(element, at: place) { actions.append(action) } else { forget(place) }
        }
        return actions.isEmpty && !elements.isEmpty ? nil : actions
    }

    /// One action; nil when it cannot be read.
    mutating func action(_ node: Node, at place: String) -> Flow.Action? {
        note(place, at: node)
        switch node {
        case .scalar(let scalar):
            if let action = Self.bareActions[scalar.string] { return action }
            if Self.actionNames.contains(scalar.string) {
                report("action '\(scalar.string)' needs to be told what; write '\(scalar.string): …'", at: node)
            } else {
                reportUnknownAction(scalar.string, at: node)
            }
        case .mapping(let mapping) where mapping.count == 1:
            guard let (key, value) = mapping.first, let name = string(key, "an action's name") else { return nil }
            return action(name, key, value, at: place)
        default:
            report("an action is a name, or one name with a colon and what it needs", at: node)
        }
        return nil
    }

    private mutating func action(_ name: String, _ key: Node, _ value: Node, at place: String) -> Flow.Action? {
        switch name {
        case "setRoot": return setRoot(value, at: place)
        case "push": return push(value, at: place)
        case "pop": return pop(value, at: place)
        case "replacePath": return .replacePath(destinations(value, name, at: place))
        case "present": return present(value, at: place)
        case "dismiss": return string(value, "the screen to dismiss").map { .dismiss($0) }
        case "selectTab": return string(value, "the tab to select").map { .selectTab($0) }
        case "show": return show(value, at: place)
        case "openURL": return string(value, "a URL").map { .openURL($0) }
        case "send": return send(value, at: place)
        case "finish": return .finish(object(value))
        case "popToRoot", "dismissAll", "abandon":
            report("action '\(name)' takes nothing; remove what follows it", at: value)
        default: reportUnknownAction(name, at: key)
        }
        return nil
    }

    private mutating func reportUnknownAction(_ name: String, at node: Node) {
        report("unknown action '\(name)'; \(Spelling.advice(for: name, among: Self.actionNames))", at: node)
    }

    mutating func send(_ node: Node, at place: String) -> Flow.Action? {
        if case .scalar(let scalar) = node { return .send(scalar.string) }
        let members = members(of: node, "'send'", at: place, required: ["type"], optional: ["data"])
        guard let members, let type = members["type"].flatMap({ string($0, "a command's type") }) else { return nil }
        return .send(type, data: .object(members["data"].map { object($0) } ?? [:]))
    }
}
