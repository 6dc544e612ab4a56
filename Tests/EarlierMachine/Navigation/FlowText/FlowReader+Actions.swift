internal import Support

extension FlowReader {
    private static let bareActions: [String: Flow.Action] = [
        "pop": .pop, "back": .back, "popToRoot": .popToRoot, "dismiss": .dismiss(nil), "dismissAll": .dismissAll,
        "finish": .finish(), "abandon": .abandon,
    ]

    private static let actionNames = Flow.ActionName.allCases.map(\.rawValue) + ["popTo", "ifPossible"]

    /// Reads the actions of a rule. Nil, with a finding, if the node is not a list, or if it has entries and none of
    /// them is valid.
    package mutating func actions(_ node: FlowNode, at keyPath: String) -> [Flow.Action]? {
        guard case .sequence(let elements) = node.content else {
            report("'do' must be a list of actions, each beginning with '- '", at: node)
            return nil
        }
        var actions: [Flow.Action] = []
        for element in elements {
            let keyPath = "\(keyPath)[\(actions.count)]"
            if let action = action(element, at: keyPath) { actions.append(action) } else { forget(keyPath) }
        }
        return actions.isEmpty && !elements.isEmpty ? nil : actions
    }

    /// Reads an action. Nil, with a finding, if it is invalid.
    package mutating func action(_ node: FlowNode, at keyPath: String) -> Flow.Action? {
        record(keyPath, at: node)
        switch node.content {
        case .scalar(let scalar):
            if let action = Self.bareActions[scalar.text] { return action }
            if Self.actionNames.contains(scalar.text) {
                report("action '\(scalar.text)' needs a value; write '\(scalar.text): …'", at: node)
            } else {
                reportUnknownAction(scalar.text, at: node)
            }
        case .mapping(let mapping) where mapping.count == 1:
            guard let (key, value) = mapping.first, let name = string(key, "an action's name") else { return nil }
            return action(name, key: key, value: value, at: keyPath)
        default:
            report("an action must be a name, or one name with a value, such as 'push: SCREEN'", at: node)
        }
        return nil
    }

    private mutating func action(_ name: String, key: FlowNode, value: FlowNode, at keyPath: String) -> Flow
        .Action?
    {
        switch name {
        case "setRoot": return setRoot(value, at: keyPath)
        case "push": return push(value, at: keyPath)
        case "pop": return pop(value, key: key, at: keyPath)
        case "popTo": return popTo(value, at: keyPath)
        case "goTo": return destination(value, "goTo", at: keyPath).map { .goTo($0.destination) }
        case "ifPossible": return action(value, at: keyPath).map { .ifPossible($0) }
        case "replacePath": return .replacePath(destinations(value, name, at: keyPath))
        case "present": return present(value, at: keyPath)
        case "dismiss":
            return string(value, "the screen to dismiss").map { .dismiss(Flow.Dismissed(stringLiteral: $0)) }
        case "selectTab": return string(value, "the tab to select").map { .selectTab($0) }
        case "show": return show(value, at: keyPath)
        case "update": return update(value, at: keyPath)
        case "openURL": return string(value, "a URL").map { .openURL($0) }
        case "send": return send(value, at: keyPath)
        case "finish": return .finish(result: object(value))
        case "back", "popToRoot", "dismissAll", "abandon":
            report("action '\(name)' takes no value; remove the value", at: value)
        default: reportUnknownAction(name, at: key)
        }
        return nil
    }

    private mutating func reportUnknownAction(_ name: String, at node: FlowNode) {
        report("unknown action '\(name)'; \(Spelling.advice(for: name, among: Self.actionNames))", at: node)
    }

    package mutating func send(_ node: FlowNode, at keyPath: String) -> Flow.Action? {
        if case .scalar(let scalar) = node.content { return .send(type: scalar.text) }
        let members = members(of: node, "'send'", at: keyPath, required: ["type"], optional: ["data"])
        guard let members, let type = members["type"].flatMap({ string($0, "a command's type") }) else { return nil }
        return .send(type: type, data: .object(members["data"].map { object($0) } ?? [:]))
    }

    /// Reads a screen with its arguments, and the other members of the action that names it.
    ///
    /// If the action requires no other members, the node may be the screen's name alone: `push: settings`.
    package mutating func destination(
        _ node: FlowNode,
        _ action: String,
        at keyPath: String,
        required: [String] = [],
        optional: [String] = []
    ) -> (destination: Flow.Destination, more: [String: FlowNode])? {
        if required.isEmpty, case .scalar = node.content {
            record("\(keyPath).screen", at: node)
            return string(node, "a screen's name").map { (.screen($0), [:]) }
        }
        let members = members(
            of: node,
            "'\(action)'",
            at: keyPath,
            required: ["screen"] + required,
            optional: ["arguments"] + optional
        )
        guard let members, let screen = members["screen"].flatMap({ string($0, "a screen's name") }) else { return nil }
        return (.screen(screen, members["arguments"].map { object($0) } ?? [:]), members)
    }

    /// Reads a child flow with its arguments, and the other members of the action that begins it. Nil if the action
    /// names no child flow.
    private mutating func childFlow(
        _ node: FlowNode,
        _ action: String,
        at keyPath: String,
        required: [String] = [],
        optional: [String] = []
    ) -> (name: String, arguments: [String: JSONValue], more: [String: FlowNode])? {
        guard case .mapping(let mapping) = node.content, mapping.contains(where: { self.name(of: $0.key) == "flow" })
        else {
            return nil
        }
        let members = members(
            of: node, "'\(action)'", at: keyPath, required: ["flow"] + required, optional: ["arguments"] + optional)
        let name = members?["flow"].flatMap { string($0, "a child flow's name") } ?? ""
        return (name, members?["arguments"].map { object($0) } ?? [:], members ?? [:])
    }

    /// Reads a screen or a list of screens.
    package mutating func destinations(_ node: FlowNode, _ action: String, at keyPath: String) -> [Flow.Destination] {
        let nodes: [FlowNode] = if case .sequence(let elements) = node.content { elements } else { [node] }
        var destinations: [Flow.Destination] = []
        for node in nodes {
            let keyPath = "\(keyPath)[\(destinations.count)]"
            record(keyPath, at: node)
            if let read = destination(node, action, at: keyPath) { destinations.append(read.destination) }
        }
        return destinations
    }

    package mutating func setRoot(_ node: FlowNode, at keyPath: String) -> Flow.Action? {
        guard let (destination, more) = destination(node, "setRoot", at: keyPath, optional: ["container"]) else {
            return nil
        }
        return .setRoot(destination, container: more["container"].flatMap { layout($0, at: "\(keyPath).container") })
    }

    private mutating func layout(_ node: FlowNode, at keyPath: String) -> Flow.Layout? {
        if case .scalar(let scalar) = node.content {
            if scalar.text == "split" { return .split }
            report("unknown container '\(scalar.text)'; write 'split' or '{ tabs: [SCREEN, …] }'", at: node)
            return nil
        }
        let members = members(of: node, "a container", at: keyPath, required: ["tabs"], optional: ["history"])
        guard let members, let tabs = members["tabs"] else { return nil }
        guard case .sequence(let elements) = tabs.content else {
            report("'tabs' must be a list of screens or of { name, screen, arguments }", at: tabs)
            return nil
        }
        return .tabs(
            elements.enumerated().compactMap { tab($0.element, at: "\(keyPath).tabs[\($0.offset)]") },
            history: members["history"].flatMap { bool($0, "history") } ?? false)
    }

    private mutating func tab(_ node: FlowNode, at keyPath: String) -> Flow.Tab? {
        record(keyPath, at: node)
        guard let (destination, more) = destination(node, "tabs", at: keyPath, optional: ["name"]) else { return nil }
        let name = more["name"].map { string($0, "a tab's name") } ?? destination.screen
        return name.map { .tab($0, destination) }
    }

    private mutating func push(_ node: FlowNode, at keyPath: String) -> Flow.Action? {
        let optional = ["column", "on"]
        if let (name, arguments, more) = childFlow(node, "push", at: keyPath, optional: optional) {
            return .pushFlow(name, arguments: arguments, on: stack(more))
        }
        guard let (destination, more) = destination(node, "push", at: keyPath, optional: optional) else { return nil }
        return .push(destination, on: stack(more))
    }

    /// Reads the stack on which a screen is pushed: `column: NAME` or `on: sender`.
    private mutating func stack(_ members: [String: FlowNode]) -> Flow.Stack? {
        if let on = members["on"] {
            if members["column"] != nil { report("'push' takes either 'column' or 'on'; remove one", at: on) }
            guard let word = string(on, "the stack to push on") else { return nil }
            if word != Flow.senderWord {
                report("'on' must be 'sender'; to push in a column, write 'column: \(word)'", at: on)
            }
            return .sender
        }
        return members["column"].flatMap { string($0, "a column's name") }.map { .column($0) }
    }

    /// Reads `pop: 2`, `pop: sender`, a mapping such as `pop: { from: item, column: detail }`, or an old form of
    /// `popTo`.
    private mutating func pop(_ node: FlowNode, key: FlowNode, at keyPath: String) -> Flow.Action? {
        guard case .mapping(let mapping) = node.content else {
            let extent = extent(node)
            if case .to(let screen) = extent { record(.popTo(screen, key: key)) }
            return extent.map { .pop($0) }
        }
        guard let members = members(of: node, "'pop'", at: keyPath, optional: ["count", "from", "to", "column"]) else {
            return nil
        }
        let column = members["column"].flatMap { string($0, "a column's name") }
        switch (members["count"], members["from"], members["to"]) {
        case (let count?, nil, nil):
            return integer(count, "the number of screens to pop").map { .pop(.count($0), column: column) }
        case (nil, let screen?, nil):
            return string(screen, "the screen to pop").map {
                .pop($0 == Flow.senderWord ? .sender : .from($0), column: column)
            }
        case (nil, nil, let screen?):
            let extent = string(screen, "the screen to pop to").map { Flow.Extent(stringLiteral: $0) }
            if let to = mapping.first(where: { name(of: $0.key) == "to" })?.key {
                switch extent {
                case .to(let screen): record(.popTo(screen, key: key, to: to))
                case .sender: record(.popFromSender(to: to))
                case .count, .from, nil: break
                }
            }
            return extent.map { .pop($0, column: column) }
        case (nil, nil, nil): return .pop(1, column: column)
        default:
            report("'pop' takes only one of 'count', 'from' and 'to'; remove the others", at: node)
            return nil
        }
    }

    /// Reads `popTo: list`, or a mapping such as `popTo: { screen: list, column: detail }`.
    private mutating func popTo(_ node: FlowNode, at keyPath: String) -> Flow.Action? {
        var column: FlowNode?
        var screen = node
        if case .mapping = node.content {
            let members = members(of: node, "'popTo'", at: keyPath, required: ["screen"], optional: ["column"])
            guard let named = members?["screen"] else { return nil }
            (screen, column) = (named, members?["column"])
        }
        guard let name = string(screen, "the screen to pop to") else { return nil }
        if name == Flow.senderWord {
            report("'popTo' needs a screen; to pop the sender, write 'pop: sender'", at: screen)
        }
        return .popTo(name, column: column.flatMap { string($0, "a column's name") })
    }

    private mutating func extent(_ node: FlowNode) -> Flow.Extent? {
        switch value(node) {
        case .integer: return integer(node, "the number of screens to pop").map { .count($0) }
        case .string(let screen) where !screen.isEmpty: return Flow.Extent(stringLiteral: screen)
        default:
            report("'pop' must be a number of screens, 'sender', or { from: SCREEN }", at: node)
            return nil
        }
    }

    private mutating func show(_ node: FlowNode, at keyPath: String) -> Flow.Action? {
        guard let (destination, more) = destination(node, "show", at: keyPath, required: ["column"]) else { return nil }
        return more["column"].flatMap { string($0, "a column's name") }.map { .show(destination, column: $0) }
    }

    private mutating func update(_ node: FlowNode, at keyPath: String) -> Flow.Action? {
        let members = members(of: node, "'update'", at: keyPath, required: ["screen", "arguments"])
        guard let members, let screen = members["screen"].flatMap({ string($0, "a screen's name") }),
            let arguments = members["arguments"]
        else { return nil }
        return .update(.screen(screen, object(arguments)))
    }

    package mutating func present(_ node: FlowNode, at keyPath: String) -> Flow.Action? {
        let optional = ["detents", "dragIndicator", "interactiveDismissal", "title", "message", "buttons"]
        if let (name, arguments, more) = childFlow(
            node, "present", at: keyPath, required: ["style"], optional: optional)
        {
            return style(more).map { style in
                .presentFlow(name, arguments: arguments, as: style, options: options(more, at: keyPath))
            }
        }
        let read = destination(node, "present", at: keyPath, required: ["style"], optional: optional)
        guard let (destination, more) = read else { return nil }
        return style(more).map { .present(destination, as: $0, options: options(more, at: keyPath)) }
    }

    private mutating func style(_ members: [String: FlowNode]) -> PresentationStyle? {
        members["style"].flatMap { choice($0, "style", of: PresentationStyle.self) }
    }

    private mutating func options(_ members: [String: FlowNode], at keyPath: String) -> PresentationOptions {
        PresentationOptions(
            detents: members["detents"].flatMap { choices($0, "detent", of: Detent.self) },
            dragIndicator: members["dragIndicator"].flatMap { bool($0, "dragIndicator") },
            interactiveDismissal: members["interactiveDismissal"].flatMap { bool($0, "interactiveDismissal") },
            title: members["title"].flatMap { string($0, "a title") },
            message: members["message"].flatMap { string($0, "a message") },
            buttons: members["buttons"].flatMap { buttons($0, at: "\(keyPath).buttons") }
        )
    }

    private mutating func buttons(_ node: FlowNode, at keyPath: String) -> [AlertButton]? {
        guard case .sequence(let elements) = node.content else {
            report("'buttons' must be a list of { id, title, role, sends, do }", at: node)
            return nil
        }
        var buttons: [AlertButton] = []
        for element in elements {
            // The index counts the valid entries, as in the finished flow.
            let keyPath = "\(keyPath)[\(buttons.count)]"
            let members = members(
                of: element, "a button", at: keyPath, required: ["id", "title"], optional: ["role", "sends", "do"])
            guard let id = members?["id"].flatMap({ string($0, "a button's id") }),
                let title = members?["title"].flatMap({ string($0, "a button's title") })
            else {
                forget(keyPath)
                continue
            }
            let command = members?["sends"].flatMap { sentCommand($0, at: "\(keyPath).sends") }
            buttons.append(
                AlertButton(
                    id: id, title: title,
                    role: members?["role"].flatMap { choice($0, "role", of: AlertButton.Role.self) },
                    sends: command?.type, data: command?.data,
                    do: members?["do"].flatMap { actions($0, at: "\(keyPath).do") } ?? []))
        }
        return buttons
    }

    /// Reads the command that a button sends. The data is nil if there is none.
    private mutating func sentCommand(
        _ node: FlowNode, at keyPath: String
    ) -> (type: String, data: [String: JSONValue]?)? {
        if case .scalar = node.content { return string(node, "the command that a button sends").map { ($0, nil) } }
        guard case .send(let type, let data) = send(node, at: keyPath) else { return nil }
        return (type, data == [:] ? nil : data.objectValue)
    }
}
