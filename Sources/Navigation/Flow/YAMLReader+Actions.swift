internal import Yams

extension YAMLReader {
    private static let bareActions: [String: Flow.Action] = [
        "pop": .pop, "popToRoot": .popToRoot, "dismiss": .dismiss(nil), "dismissAll": .dismissAll,
    ]

    private static let actionNames = [
        "setRoot", "push", "pop", "popToRoot", "replacePath", "present", "dismiss", "dismissAll", "show", "openURL",
        "send",
    ]

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

    private mutating func action(_ node: Node, at place: String) -> Flow.Action? {
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
        case "push": return destination(value, name, at: place).map { .push($0.destination) }
        case "replacePath": return .replacePath(destinations(value, name, at: place))
        case "present": return present(value, at: place)
        case "dismiss": return string(value, "the screen to dismiss").map { .dismiss($0) }
        case "show": return show(value, at: place)
        case "openURL": return string(value, "a URL").map { .openURL($0) }
        case "send": return send(value, at: place)
        case "pop", "popToRoot", "dismissAll":
            report("action '\(name)' takes nothing; remove what follows it", at: value)
        default: reportUnknownAction(name, at: key)
        }
        return nil
    }

    private mutating func reportUnknownAction(_ name: String, at node: Node) {
        report("unknown action '\(name)'; \(Spelling.advice(for: name, among: Self.actionNames))", at: node)
    }

    mutating func setRoot(_ node: Node, at place: String) -> Flow.Action? {
        guard let (destination, more) = destination(node, "setRoot", at: place, optional: ["container"]) else {
            return nil
        }
        return .setRoot(destination, container: more["container"].flatMap { layout($0, at: "\(place).container") })
    }

    private mutating func layout(_ node: Node, at place: String) -> Flow.Layout? {
        if case .scalar(let scalar) = node {
            if scalar.string == "split" { return .split }
            report("unknown container '\(scalar.string)'; write 'split' or '{ tabs: [NAME, …] }'", at: node)
            return nil
        }
        guard let tabs = members(of: node, "a container", at: place, required: ["tabs"])?["tabs"] else { return nil }
        return strings(tabs, "a tab's name").map { .tabs($0) }
    }

    private mutating func show(_ node: Node, at place: String) -> Flow.Action? {
        guard let (destination, more) = destination(node, "show", at: place, required: ["column"]) else { return nil }
        return more["column"].flatMap { string($0, "a column's name") }.map { .show(destination, column: $0) }
    }

    mutating func send(_ node: Node, at place: String) -> Flow.Action? {
        if case .scalar(let scalar) = node { return .send(scalar.string) }
        let members = members(of: node, "'send'", at: place, required: ["type"], optional: ["data"])
        guard let members, let type = members["type"].flatMap({ string($0, "a command's type") }) else { return nil }
        return .send(type, data: .object(members["data"].map { object($0) } ?? [:]))
    }

    mutating func present(_ node: Node, at place: String) -> Flow.Action? {
        let optional = ["detents", "dragIndicator", "title", "message", "buttons"]
        guard
            let (destination, more) = destination(
                node, "present", at: place, required: ["style"], optional: optional),
            let style = more["style"].flatMap({ choice($0, "style", of: PresentationStyle.self) })
        else { return nil }
        let options = PresentationOptions(
            detents: more["detents"].flatMap { detents($0) },
            dragIndicator: more["dragIndicator"].flatMap { bool($0, "dragIndicator") },
            title: more["title"].flatMap { string($0, "an alert's title") },
            message: more["message"].flatMap { string($0, "an alert's message") },
            buttons: more["buttons"].flatMap { buttons($0, at: "\(place).buttons") }
        )
        return .present(destination, as: style, options: options)
    }

    private mutating func detents(_ node: Node) -> [Detent]? {
        guard case .sequence(let elements) = node else {
            report("detents must be a list, such as [medium]", at: node)
            return nil
        }
        return elements.compactMap { choice($0, "detent", of: Detent.self) }
    }

    private mutating func buttons(_ node: Node, at place: String) -> [AlertButton]? {
        guard case .sequence(let elements) = node else {
            report("buttons must be a list of { id, title, sends }", at: node)
            return nil
        }
        return elements.compactMap { element in
            let what = "a button"
            let members = members(of: element, what, at: place, required: ["id", "title"], optional: ["sends"])
            guard let id = members?["id"].flatMap({ string($0, "a button's id") }),
                let title = members?["title"].flatMap({ string($0, "a button's title") })
            else { return nil }
            return AlertButton(
                id: id,
                title: title,
                sends: members?["sends"].flatMap { string($0, "the command that a button sends") }
            )
        }
    }
}
