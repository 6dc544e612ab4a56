/// An argument of a screen that a deep link opens: a constant, or the value of the URL that `${url.NAME}` names.
enum LinkArgument: Equatable {
    case constant(JSONValue)
    case place(String)
    /// Anything else with a template in it, from which no URL could be made again.
    case unreadable

    init(_ value: JSONValue) {
        if let source = value.stringValue, source.hasPrefix("${url."), source.hasSuffix("}") {
            let name = source.dropFirst(6).dropLast()
            self = name.isEmpty || name.contains(where: "${}.".contains) ? .unreadable : .place(String(name))
        } else {
            self = Self.isConstant(value) ? .constant(value) : .unreadable
        }
    }

    var isConstant: Bool { if case .constant = self { true } else { false } }

    private static func isConstant(_ value: JSONValue) -> Bool {
        switch value {
        case .string(let text): !text.contains("${")
        case .array(let elements): elements.allSatisfy(isConstant)
        case .object(let members): members.values.allSatisfy(isConstant)
        default: true
        }
    }
}

extension [String: JSONValue] {
    /// These arguments for the values of a URL. One whose place the URL leaves out is left out.
    func filled(from values: [String: String]) -> [String: JSONValue] {
        compactMapValues { argument in
            switch LinkArgument(argument) {
            case .constant(let value): value
            case .place(let name): values[name].map { .string($0) }
            case .unreadable: nil
            }
        }
    }
}

extension Flow.Destination {
    /// The places of the URL that its arguments take their values from.
    var places: Set<String> {
        Set(arguments.values.compactMap { if case .place(let name) = LinkArgument($0) { name } else { nil } })
    }

    /// The arguments for the values of a URL.
    func arguments(from values: [String: String]) -> [String: JSONValue] {
        arguments.filled(from: values)
    }

    /// The values of the URL that leads to this instance; nil when none of this destination's does. None ever leads into
    /// the midst of a child flow: to whoever began its run.
    func values(of instance: ScreenInstance) -> [String: String]? {
        guard instance.screen == screen, instance.run == nil else { return nil }
        var values: [String: String] = [:]
        for (name, argument) in arguments {
            let value = instance.arguments[name]
            switch LinkArgument(argument) {
            case .constant(let constant): guard value == constant else { return nil }
            case .place(let place):
                guard let value else { continue }
                guard let text = Self.text(of: value), values[place] == nil || values[place] == text else { return nil }
                values[place] = text
            case .unreadable: return nil
            }
        }
        return hasArguments(of: instance, for: values) ? values : nil
    }

    /// Whether the instance has arguments of those names that it would get for these values.
    func hasArguments(of instance: ScreenInstance, for values: [String: String]) -> Bool {
        Set(instance.arguments.keys) == Set(arguments(from: values).keys)
    }

    /// An identifier that came in a message may be a number; in a URL it is text.
    private static func text(of value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .integer, .number, .bool: value.description
        case .null, .array, .object: nil
        }
    }
}
