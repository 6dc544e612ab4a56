internal import Support

extension Flow.Link {
    func url(for state: NavigationState) -> String? {
        values(of: state).flatMap { pattern?.url(with: $0) }
    }

    /// The values of this link's URL for a state. Nil if no URL of this link leads to the state.
    func values(of state: NavigationState) -> [String: String]? {
        guard to.root != nil || roots.contains(state.root.instance.screen) || roots.isEmpty else { return nil }
        return to.values(of: state)
    }
}

extension Flow.Link.Target {
    private typealias Pair = (wanted: Flow.Destination, open: ScreenInstance)

    fileprivate func values(of state: NavigationState) -> [String: String]? {
        guard let pairs = pairs(with: state) else { return nil }
        var values: [String: String] = [:]
        for (destination, instance) in pairs {
            guard let own = destination.values(of: instance), own.allSatisfy({ values[$0.key] ?? $0.value == $0.value })
            else { return nil }
            values.merge(own) { first, _ in first }
        }
        // If one screen has a query value and another lacks it, no URL leads to this state.
        return pairs.allSatisfy { $0.wanted.hasArguments(of: $0.open, for: values) } ? values : nil
    }

    /// Pairs the target's screens with the open instances in the same places. Nil if the state has another structure.
    private func pairs(with state: NavigationState) -> [Pair]? {
        guard keepsTab(of: state), root?.fits(state.root.container) ?? true,
            let beside = pairs(withColumnsOf: state), let above = pairs(withPresentationsOf: state)
        else { return nil }
        var wanted = path
        var open = state[state.bottomScope]
        if let root {
            wanted.append(root.destination)
            open.append(state.root.instance)
        }
        if let first, let instance = state.base(of: state.bottomScope) {
            wanted.append(first)
            open.append(instance)
        }
        return Self.pairs(wanted, open).map { $0 + beside + above }
    }

    private func pairs(withColumnsOf state: NavigationState) -> [Pair]? {
        let open = state.columns
        guard Set(columns.keys) == Set(open.keys) else { return nil }
        var pairs: [Pair] = []
        for (name, column) in columns {
            guard let own = Self.pairs(column.screens, open[name]?.instances ?? []) else { return nil }
            pairs += own
        }
        return pairs
    }

    private func pairs(withPresentationsOf state: NavigationState) -> [Pair]? {
        guard let present else { return state.presentations.isEmpty ? [] : nil }
        guard state.presentations.count == 1, let presentation = state.presentations.first,
            presentation.style == present.style
        else { return nil }
        return Self.pairs([present.destination], presentation.instances)
    }

    private static func pairs(_ wanted: [Flow.Destination], _ open: [ScreenInstance]) -> [Pair]? {
        wanted.count == open.count ? Array(zip(wanted, open)) : nil
    }

    /// True if the target's tab is selected, or the target names none.
    func keepsTab(of state: NavigationState) -> Bool {
        tab == nil || tab == state.root.container?.selectedTab
    }
}

extension Flow.Link.Root {
    /// True if a root with this container can be kept for the link.
    func fits(_ open: Container?) -> Bool {
        switch (container, open) {
        case (nil, _), (.split, .split): true
        case (.tabs(let wanted, _), .tabs(let tabs, _)):
            wanted.map(\.name) == tabs.map(\.name)
                && wanted.map(\.destination.screen) == tabs.map(\.stack.instance.screen)
        default: false
        }
    }
}

/// An argument of a screen that a deep link opens: a constant, or the URL's value that `${url.NAME}` refers to.
enum LinkArgument: Equatable {
    case constant(JSONValue)
    case placeholder(String)
    /// Any other value with a template in it.
    case unreadable

    init(_ value: JSONValue) {
        if let (name, rest) = value.stringValue?.removing(prefix: "${url.")?.cut(atLast: "}"), rest.isEmpty {
            self = name.isEmpty || name.contains(scalarOf: "${}.") ? .unreadable : .placeholder(String(name))
        } else {
            self = Self.isConstant(value) ? .constant(value) : .unreadable
        }
    }

    var isConstant: Bool { if case .constant = self { true } else { false } }

    private static func isConstant(_ value: JSONValue) -> Bool {
        switch value {
        case .string(let text): !text.contains(scalars: "${")
        case .array(let elements): elements.allSatisfy(isConstant)
        case .object(let members): members.values.allSatisfy(isConstant)
        default: true
        }
    }
}

extension [String: JSONValue] {
    /// These arguments, filled in with the values of a URL. An argument is left out if the URL has no value for it.
    func filled(from values: [String: String]) -> [String: JSONValue] {
        compactMapValues { argument in
            switch LinkArgument(argument) {
            case .constant(let value): value
            case .placeholder(let name): values[name].map { .string($0) }
            case .unreadable: nil
            }
        }
    }
}

extension Flow.Destination {
    /// The placeholders of the URL that the arguments refer to.
    var placeholders: Set<String> {
        Set(arguments.values.compactMap { if case .placeholder(let name) = LinkArgument($0) { name } else { nil } })
    }

    /// The arguments, filled in with the values of a URL.
    func arguments(from values: [String: String]) -> [String: JSONValue] {
        arguments.filled(from: values)
    }

    /// The values of the URL that leads to this instance. Nil if no URL does: the instance is another screen, has other
    /// arguments, or belongs to a run of a child flow.
    func values(of instance: ScreenInstance) -> [String: String]? {
        guard instance.screen == screen, instance.run == nil else { return nil }
        var values: [String: String] = [:]
        for (name, argument) in arguments {
            let value = instance.arguments[name]
            switch LinkArgument(argument) {
            case .constant(let constant): guard value?.isSameArgument(as: constant) == true else { return nil }
            case .placeholder(let placeholder):
                guard let value else { continue }
                guard let text = value.argumentText, values[placeholder] == nil || values[placeholder] == text else {
                    return nil
                }
                values[placeholder] = text
            case .unreadable: return nil
            }
        }
        return hasArguments(of: instance, for: values) ? values : nil
    }

    /// True if the instance has exactly the arguments, by name, that a new instance would get for these values.
    func hasArguments(of instance: ScreenInstance, for values: [String: String]) -> Bool {
        Set(instance.arguments.keys) == Set(arguments(from: values).keys)
    }
}

// The rule by which arguments compare, in conditions and in links.
extension JSONValue {
    /// True if both are the same argument: equal values, or a number or a boolean and the text that writes it as JSON
    /// does. `5` and `5.0` are the same argument as `"5"`, but not as `"05"`.
    func isSameArgument(as other: JSONValue) -> Bool {
        if self == other { return true }
        guard let text = argumentText, let other = other.argumentText else { return false }
        return text == other
    }

    /// The text of the value in a URL. Nil for null, arrays and objects.
    fileprivate var argumentText: String? {
        switch self {
        case .string(let text): text
        case .integer, .number, .bool: description
        case .null, .array, .object: nil
        }
    }
}
