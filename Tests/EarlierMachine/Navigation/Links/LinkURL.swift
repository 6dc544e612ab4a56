internal import Support

extension Flow.Link {
    /// The values of this link's URL for a state. Nil if no URL of this link leads to the state.
    func values(of state: NavigationState) -> [String: JSONValue]? {
        guard let to, let pattern, isOn(state.root.instance.screen), let pairs = to.pairs(with: state) else {
            return nil
        }
        var values: [String: JSONValue] = [:]
        for (destination, instance) in pairs {
            guard destination.screen == instance.screen, destination.give(&values, of: instance, pattern) else {
                return nil
            }
        }
        // If one screen has a query value and another lacks it, no URL leads to this state.
        return pairs.allSatisfy { isFilled($0.open, as: $0.wanted, from: values) } ? values : nil
    }

    /// True if the link's `to` may lie on this root.
    func isOn(_ root: String) -> Bool { to?.root != nil || roots.isEmpty || roots.contains(root) }

    /// True if the screens of a target are open, with the arguments for these values.
    func isOpen(_ target: Target, with values: [String: JSONValue], in state: NavigationState) -> Bool {
        target.pairs(with: state)?.allSatisfy { isFilled($0.open, as: $0.wanted, from: values) } ?? false
    }

    /// True if the instance is one of the destination, with exactly the arguments that a new instance would get for
    /// these values, and belongs to no run of a child flow.
    func isFilled(_ instance: ScreenInstance, as destination: Flow.Destination, from values: [String: JSONValue])
        -> Bool
    {
        guard instance.screen == destination.screen, instance.run == nil else { return false }
        let wanted = filled(destination.arguments, from: values)
        return wanted.count == instance.arguments.count
            && wanted.allSatisfy { instance.arguments[$0]?.isSameArgument(as: $1) ?? false }
    }

    /// Arguments or data, filled in with the values of a URL. A member is left out if the URL has no value for it.
    func filled(_ members: [String: JSONValue], from values: [String: JSONValue]) -> [String: JSONValue] {
        members.compactMapValues { member in
            switch LinkArgument(member) {
            case .constant(let value): value
            case .placeholder(let name, let fallback):
                values[name].flatMap { fallback != nil && $0 == "" ? nil : $0 }
                    ?? fallback.flatMap { pattern?.type(of: name)?.value(of: $0) }
            case .unreadable: nil
            }
        }
    }
}

extension Flow.Link.Target {
    fileprivate typealias Pair = (wanted: Flow.Destination, open: ScreenInstance)

    /// Pairs the target's screens with the open instances in the same places. Nil if the state has another structure.
    fileprivate func pairs(with state: NavigationState) -> [Pair]? {
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

/// An argument of a screen that a deep link opens, or a field of a command that it sends.
enum LinkArgument: Equatable {
    case constant(JSONValue)
    /// The URL's value that `${url.NAME}` or `${url.NAME:-DEFAULT}` refers to. The default is nil if there is none.
    case placeholder(String, fallback: String?)
    /// Any other value with a template in it.
    case unreadable

    init(_ value: JSONValue) {
        if let (inside, rest) = value.stringValue?.removing(prefix: "${url.")?.cut(at: "}"), rest.isEmpty {
            let (name, fallback) = inside.cut(at: ":-").map { ($0.before, $0.after) } ?? (inside, nil)
            let isReadable =
                !name.isEmpty && !name.contains(scalarOf: "${}.:") && fallback?.contains(scalarOf: "${") != true
            self = isReadable ? .placeholder(String(name), fallback: fallback.map(String.init)) : .unreadable
        } else {
            self = Self.constant(value).map { .constant($0) } ?? .unreadable
        }
    }

    var isConstant: Bool { if case .constant = self { true } else { false } }

    /// The value, with `${` for each `$${`. Nil if it contains a template.
    private static func constant(_ value: JSONValue) -> JSONValue? {
        switch value {
        case .string(let text):
            guard text.contains(scalars: "${") else { return value }
            let isTemplate = text.replacing(scalars: "$${", with: "").contains(scalars: "${")
            return isTemplate ? nil : .string(text.replacing(scalars: "$${", with: "${"))
        case .array(let elements):
            let constants = elements.compactMap(constant)
            return constants.count == elements.count ? .array(constants) : nil
        case .object(let members):
            let constants = members.compactMapValues(constant)
            return constants.count == members.count ? .object(constants) : nil
        default: return value
        }
    }
}

extension Flow.Destination {
    /// Adds the values of the URL that would give the instance its arguments. An argument that equals its default gives
    /// no value.
    ///
    /// - Returns: False if no URL gives these arguments.
    fileprivate func give(_ values: inout [String: JSONValue], of instance: ScreenInstance, _ pattern: URLPattern)
        -> Bool
    {
        for (name, argument) in arguments {
            guard case .placeholder(let placeholder, let fallback) = LinkArgument(argument),
                let text = instance.arguments[name]?.argumentText, text != fallback
            else { continue }
            guard let value = pattern.type(of: placeholder)?.value(of: text),
                values.updateValue(value, forKey: placeholder) ?? value == value
            else { return false }
        }
        return true
    }
}

extension LinkArgument {
    /// The name of the URL's value. Nil if the argument refers to none.
    var placeholder: String? { if case .placeholder(let name, _) = self { name } else { nil } }
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
    var argumentText: String? {
        switch self {
        case .string(let text): text
        case .integer, .number, .bool: description
        case .null, .array, .object: nil
        }
    }
}
