package import Support

extension Flow.Child {
    var json: JSONValue {
        ["start": .string(start), "transitions": .array(transitions.map(\.json))]
    }
}

extension Flow.Screen {
    var json: JSONValue {
        .object(
            members: [
                ("title", title.map { .string($0) }),
                ("sends", sends.isEmpty ? nil : .array(sends.map { .string($0) })),
                ("arguments", arguments?.json),
                ("gate", gate ? true : nil),
                ("once", once ? true : nil),
                ("back", back ? nil : false),
            ])
    }
}

extension Flow.Transition {
    var json: JSONValue {
        .object(
            members: [
                ("on", on.isEmpty ? nil : JSONValue(types: on)),
                ("after", (after?.text).map { .string($0) }),
                ("where", fields.isEmpty ? nil : .object(fields.mapValues(\.json))),
                ("when", when.isEmpty ? nil : Flow.Condition.json(of: when)),
                ("unless", unless.isEmpty ? nil : Flow.Condition.json(of: unless)),
                ("origin", origin == .any ? nil : .string(origin.rawValue)),
                ("guard", `guard`?.json),
                ("do", .array(actions.map(\.json))),
            ])
    }
}

extension JSONValue {
    /// A type, or a list of several types.
    fileprivate init(types: [String]) {
        self = types.count == 1 ? .string(types[0]) : .array(types.map { .string($0) })
    }
}

extension Flow.Condition {
    /// A mapping from the parts of the state to screens; or a list of mappings, if there are several conditions on one
    /// part.
    static func json(of conditions: [Flow.Condition]) -> JSONValue {
        var mappings: [[String: JSONValue]] = []
        for condition in conditions {
            let key = condition.scope.rawValue
            let index = mappings.firstIndex { $0[key] == nil } ?? mappings.endIndex
            if index == mappings.endIndex { mappings.append([:]) }
            mappings[index][key] = .array(condition.screens.map(\.json))
        }
        return mappings.count == 1 ? .object(mappings[0]) : .array(mappings.map { .object($0) })
    }
}

extension Flow.Condition.Screen {
    fileprivate var json: JSONValue {
        arguments.isEmpty ? .string(screen) : ["screen": .string(screen), "arguments": argumentsJSON]
    }

    package var argumentsJSON: JSONValue { .object(arguments.mapValues(\.argumentJSON)) }
}

extension Flow.Action {
    package var json: JSONValue {
        switch self {
        case .setRoot(let destination, let container):
            ["setRoot": .object(destination.members.with("container", container?.json))]
        case .push(let destination, on: let stack):
            ["push": .object(destination.members.with(stack))]
        case .pushFlow(let flow, arguments: let arguments, on: let stack):
            ["push": .object(Self.members(flow, arguments).with(stack))]
        case .pop(1, column: nil): "pop"
        case .pop(let extent, let column): ["pop": extent.json(column: column)]
        case .goTo(let destination): ["goTo": .object(destination.members)]
        case .back: "back"
        case .popToRoot: "popToRoot"
        case .replacePath(let destinations):
            ["replacePath": .array(destinations.map { .object($0.members) })]
        case .present(let destination, as: let style, options: let options):
            ["present": .object(destination.members.with(style, options))]
        case .presentFlow(let flow, arguments: let arguments, as: let style, options: let options):
            ["present": .object(Self.members(flow, arguments).with(style, options))]
        case .dismiss(nil): "dismiss"
        case .dismiss(.screen(let screen)): ["dismiss": .string(screen)]
        case .dismiss(.sender): ["dismiss": .string(Flow.senderWord)]
        case .dismissAll: "dismissAll"
        case .selectTab(let tab): ["selectTab": .string(tab)]
        // An update without arguments is written with the empty object, which its readers require.
        case .update(let destination):
            ["update": .object(destination.members.with("arguments", .object(destination.arguments)))]
        case .show(let destination, let column):
            ["show": .object(destination.members.with("column", .string(column)))]
        case .openURL(let url): ["openURL": .string(url)]
        case .send(let type, let data):
            ["send": .object(members: [("type", .string(type)), ("data", data == [:] ? nil : data)])]
        case .finish(let result): result.isEmpty ? "finish" : ["finish": .object(result)]
        case .abandon: "abandon"
        case .ifPossible(let action): ["ifPossible": action.json]
        }
    }

    private static func members(_ flow: String, _ arguments: [String: JSONValue]) -> [String: JSONValue] {
        ["flow": .string(flow)].with("arguments", arguments.isEmpty ? nil : .object(arguments))
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
        case .tabs(let tabs, let history):
            .object(
                members: [
                    ("tabs", .array(tabs.map { .object($0.destination.members.with("name", .string($0.name))) })),
                    ("history", history ? true : nil),
                ])
        }
    }
}

extension Flow.Extent {
    fileprivate func json(column: String?) -> JSONValue {
        let (name, value): (String, JSONValue) =
            switch self {
            case .count(let count): ("count", .integer(count))
            case .to(let screen): ("to", .string(screen))
            case .from(let screen): ("from", .string(screen))
            case .sender: ("to", .string(Flow.senderWord))
            }
        if let column { return .object([name: value, "column": .string(column)]) }
        // A single value means `count` or `to`.
        return name == "from" ? .object([name: value]) : value
    }
}

extension PresentationOptions {
    fileprivate var members: [String: JSONValue] {
        [String: JSONValue]()
            .with("detents", detents.map { .array($0.map { .string($0.rawValue) }) })
            .with("dragIndicator", dragIndicator.map { .bool($0) })
            .with("interactiveDismissal", interactiveDismissal.map { .bool($0) })
            .with("title", title.map { .string($0) })
            .with("message", message.map { .string($0) })
            .with("buttons", buttons.map { .array($0.map(\.json)) })
    }
}

extension AlertButton {
    fileprivate var json: JSONValue {
        .object(
            members: [
                ("id", .string(id)), ("title", .string(title)), ("role", role.map { .string($0.rawValue) }),
                ("sends", command),
                ("do", actions.isEmpty ? nil : .array(actions.map(\.json))),
            ])
    }

    private var command: JSONValue? {
        guard let sends, let data else { return sends.map { .string($0) } }
        return ["type": .string(sends), "data": .object(data)]
    }
}

extension [String: JSONValue] {
    fileprivate func with(_ style: PresentationStyle, _ options: PresentationOptions) -> [String: JSONValue] {
        with("style", .string(style.rawValue)).merging(options.members) { own, _ in own }
    }

    fileprivate func with(_ stack: Flow.Stack?) -> [String: JSONValue] {
        switch stack {
        case nil: self
        case .column(let name): with("column", .string(name))
        case .sender: with("on", .string(Flow.senderWord))
        }
    }

    fileprivate func with(_ name: String, _ value: JSONValue?) -> [String: JSONValue] {
        var members = self
        members[name] = value
        return members
    }
}

extension Flow.Guard {
    var json: JSONValue {
        .object(
            members: question + [
                ("deadline", .string(deadline.text)),
                ("meanwhile", meanwhile == .drop ? nil : .string(meanwhile.rawValue)),
                ("rejected", rejected.isEmpty ? nil : .array(rejected.map(\.json))),
                ("expired", expired.isEmpty ? nil : .array(expired.map(\.json))),
            ])
    }

    /// The question and its answers, without the actions that follow.
    private var question: [(String, JSONValue?)] {
        [("ask", ask?.json), ("accept", accept.json), ("reject", reject?.json)]
    }

    /// Returns the name of a rule with this guard. The name is a hash of the rule's message type, conditions and origin
    /// and of the guard's `ask`, `accept` and `reject`.
    func name(ofRule rule: JSONValue) -> String {
        var occasion = rule.objectValue ?? [:]
        occasion["do"] = nil
        occasion["guard"] = .object(members: question)
        return occasion.name
    }
}

extension Flow.Transition {
    /// The name of a rule that waits: a hash of its time and its conditions.
    var waitName: String {
        var occasion = json.objectValue ?? [:]
        occasion["do"] = nil
        return occasion.name
    }
}

extension [String: JSONValue] {
    /// A hash, as the name of a rule with this occasion.
    fileprivate var name: String {
        var hash = FNV1a()
        hash.combine(JSONValue.object(self).description)
        return hash.hexadecimal
    }
}

extension Flow.Guard.Ask {
    fileprivate var json: JSONValue {
        .object(members: [("type", .string(type)), ("data", data == [:] ? nil : data)])
    }
}

extension Flow.Guard.Answer {
    fileprivate var json: JSONValue {
        .object(
            members: [
                ("on", JSONValue(types: on)), ("where", fields.isEmpty ? nil : .object(fields.mapValues(\.json))),
            ])
    }
}

extension Flow.Link {
    package var json: JSONValue {
        .object(
            members: [
                ("url", .string(url)),
                ("when", when.isEmpty ? nil : Flow.Condition.json(of: when)),
                ("unless", unless.isEmpty ? nil : Flow.Condition.json(of: unless)),
                ("to", to?.json),
                ("otherwise", otherwise?.json),
                ("redirect", redirect.map { .string($0) }),
                ("action", isAction ? true : nil),
                ("send", sends.isEmpty ? nil : .array(sends.map(\.json))),
                ("park", park == Self.usualPark ? nil : .string(park.text)),
                ("over", over.isEmpty ? nil : .object(members: over.map { ($0.rawValue, .string($1.rawValue)) })),
            ])
    }
}

extension Flow.Link.Sending {
    fileprivate var json: JSONValue {
        .object(members: [("type", .string(type)), ("data", data.isEmpty ? nil : .object(data))])
    }
}

extension Flow.Link.Column {
    fileprivate var json: JSONValue {
        .object(
            members: (first.json.objectValue ?? [:]).map { ($0, $1) } + [
                ("path", path.isEmpty ? nil : .array(path.map(\.json)))
            ])
    }
}

extension Flow.Link.Target {
    fileprivate var json: JSONValue {
        .object(
            members: [
                ("root", root.flatMap { Flow.Action.setRoot($0.destination, container: $0.container).json["setRoot"] }),
                ("tab", tab.map { .string($0) }),
                ("columns", columns.isEmpty ? nil : .object(columns.mapValues(\.json))),
                ("path", path.isEmpty ? nil : .array(path.map(\.json))),
                (
                    "present",
                    present.flatMap {
                        Flow.Action.present($0.destination, as: $0.style, options: $0.options).json["present"]
                    }
                ),
            ])
    }
}
