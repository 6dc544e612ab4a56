extension Flow {
    /// The flow in the form of its YAML file; YAML holds JSON, so reading this text gives an equal flow.
    ///
    /// The flow's hash covers it, so everything that a flow says must stand here, and what says nothing must not.
    public var json: JSONValue {
        Self.json(
            name: name,
            version: version,
            platform: platform,
            start: start,
            screens: screens,
            transitions: transitions,
            links: links
        )
    }

    static func json(
        name: String,
        version: Int,
        platform: String,
        start: String,
        screens: [String: Screen],
        transitions: [Transition],
        links: [Link]
    ) -> JSONValue {
        let members: [String: JSONValue] = [
            "name": .string(name),
            "version": .integer(version),
            "platform": .string(platform),
            "start": .string(start),
            "screens": .object(screens.mapValues(\.json)),
            "transitions": .array(transitions.map(\.json)),
        ]
        return .object(members.with("links", links.isEmpty ? nil : .array(links.map(\.json))))
    }
}

extension Flow.Screen {
    var json: JSONValue {
        .object(
            members: [
                ("title", title.map { .string($0) }),
                ("sends", sends.isEmpty ? nil : .array(sends.map { .string($0) })),
                ("gate", gate ? true : nil),
            ])
    }
}

extension Flow.Transition {
    var json: JSONValue {
        .object(
            members: [
                ("on", .string(on)),
                ("where", fields.isEmpty ? nil : .object(fields)),
                ("when", when.isEmpty ? nil : Flow.Condition.json(of: when)),
                ("unless", unless.isEmpty ? nil : Flow.Condition.json(of: unless)),
                ("origin", origin == .any ? nil : .string(origin.rawValue)),
                ("do", .array(actions.map(\.json))),
            ])
    }
}

extension Flow.Condition {
    static func json(of conditions: [Flow.Condition]) -> JSONValue {
        let members = conditions.map { ($0.place.rawValue, JSONValue.array($0.screens.map { .string($0) })) }
        return .object(Dictionary(members) { first, _ in first })
    }
}

extension Flow.Action {
    var json: JSONValue {
        switch self {
        case .setRoot(let destination, let container):
            ["setRoot": .object(destination.members.with("container", container?.json))]
        case .push(let destination): ["push": .object(destination.members)]
        case .pop: "pop"
        case .popToRoot: "popToRoot"
        case .replacePath(let destinations):
            ["replacePath": .array(destinations.map { .object($0.members) })]
        case .present(let destination, let style, let options):
            [
                "present": .object(
                    destination.members
                        .with("style", .string(style.rawValue))
                        .merging(options.members) { own, _ in own }
                )
            ]
        case .dismiss(let screen): screen.map { ["dismiss": .string($0)] } ?? "dismiss"
        case .dismissAll: "dismissAll"
        case .show(let destination, let column):
            ["show": .object(destination.members.with("column", .string(column)))]
        case .openURL(let url): ["openURL": .string(url)]
        case .send(let type, let data):
            ["send": .object(members: [("type", .string(type)), ("data", data == [:] ? nil : data)])]
        }
    }
}

extension Flow.Destination {
    var json: JSONValue { .object(members) }

    fileprivate var members: [String: JSONValue] {
        ["screen": .string(screen)].with("arguments", arguments.isEmpty ? nil : .object(arguments))
    }
}

extension Flow.Layout {
    fileprivate var json: JSONValue {
        switch self {
        case .split: "split"
        case .tabs(let tabs): ["tabs": .array(tabs.map { .string($0) })]
        }
    }
}

extension PresentationOptions {
    fileprivate var members: [String: JSONValue] {
        [String: JSONValue]()
            .with("detents", detents.map { .array($0.map { .string($0.rawValue) }) })
            .with("dragIndicator", dragIndicator.map { .bool($0) })
            .with("title", title.map { .string($0) })
            .with("message", message.map { .string($0) })
            .with("buttons", buttons.map { .array($0.map(\.json)) })
    }
}

extension AlertButton {
    fileprivate var json: JSONValue {
        .object(members: [("id", .string(id)), ("title", .string(title)), ("sends", sends.map { .string($0) })])
    }
}

extension JSONValue {
    /// An object of those members that have a value.
    static func object(members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.reduce(into: [:]) { object, member in object[member.0] = member.1 })
    }
}

extension [String: JSONValue] {
    fileprivate func with(_ name: String, _ value: JSONValue?) -> [String: JSONValue] {
        var members = self
        members[name] = value
        return members
    }
}
