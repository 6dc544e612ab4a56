internal import FlowFiles
package import Navigation
internal import Support

/// A flow with one mistake, as its authors could make it. Tests of the flow should find it.
package struct FlowMutant: Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case condition = "without a condition"
        case screen = "with another screen"
        case action = "without an action"
        case order = "after the next rule"
        case argument = "with another argument"
    }

    package let kind: Kind
    /// The place of the rule in the flow.
    package let rule: String
    package let flow: Flow

    /// Some of the mutants that are valid flows, the same ones for the same seed.
    package static func some(of flow: Flow, count: Int, seed: Int) -> [FlowMutant] {
        let drawn = changes(of: flow).enumerated().map { index, change -> (order: UInt64, change: Changed) in
            var hash = FNV1a()
            hash.combine("\(seed) \(index)")
            return (hash.value, change)
        }
        let mutants = drawn.sorted { $0.order < $1.order }.lazy.compactMap { FlowMutant($0.change) }
        return Array(mutants.prefix(count))
    }

    /// A changed flow as JSON, which may be invalid.
    private typealias Changed = (kind: Kind, rule: String, json: JSONValue)

    private init?(_ changed: Changed) {
        guard let flow = try? Flow(yaml: changed.json.description, file: "mutant") else { return nil }
        (kind, rule, self.flow) = (changed.kind, changed.rule, flow)
    }

    private static func changes(of flow: Flow) -> [Changed] {
        let (json, screens) = (flow.json, flow.screens.keys.sorted())
        let kinds: [(Kind, JSONValue.Change)] = [
            (.condition, Change.condition), (.action, Change.action),
            (.screen, Change.inActions { Change.screen($0, $1, among: screens) }),
            (.argument, Change.inActions(Change.argument)),
        ]
        return flow.ruleLists.flatMap { list -> [Changed] in
            guard case .array(let rules)? = json.value(at: list) else { return [] }
            return rules.indices.flatMap { index -> [Changed] in
                func changed(_ kind: Kind, _ rules: [JSONValue]) -> Changed {
                    (kind, "\(list.joined(separator: "."))[\(index)]", json.replacing(.array(rules), at: list))
                }
                let rule = kinds.flatMap { kind, change in
                    rules[index].variants(change).map { rule in
                        changed(kind, rules.indices.map { $0 == index ? rule : rules[$0] })
                    }
                }
                guard index + 1 < rules.count else { return rule }
                var order = rules
                order.swapAt(index, index + 1)
                return rule + [changed(.order, order)]
            }
        }
    }
}

extension Flow {
    /// The places of the lists of rules: those of the flow itself, and those of its child flows.
    fileprivate var ruleLists: [[String]] {
        [["transitions"]] + flows.keys.sorted().map { ["flows", $0, "transitions"] }
    }
}

/// The changes that make mutants.
private enum Change {
    private static let conditions: Set<String> = ["where", "when", "unless"]

    /// Leaves out each condition.
    static func condition(_ key: String, _ value: JSONValue) -> [JSONValue] {
        guard conditions.contains(key) else { return [] }
        return switch value {
        case .object(let members): members.keys.sorted().map { key in .object(members.filter { $0.key != key }) }
        case .array(let elements): elements.without
        default: []
        }
    }

    /// Leaves out each action.
    static func action(_ key: String, _ value: JSONValue) -> [JSONValue] {
        guard key == "do", case .array(let actions) = value, actions.count > 1 else { return [] }
        return actions.without
    }

    /// Exchanges the screen of an action for the next one.
    static func screen(_ key: String, _ value: JSONValue, among screens: [String]) -> [JSONValue] {
        guard ["screen", "dismiss", "to", "from"].contains(key), let name = value.stringValue,
            let index = screens.firstIndex(of: name), screens.count > 1
        else { return [] }
        return [.string(screens[(index + 1) % screens.count])]
    }

    /// Exchanges each argument of a screen for that of its next one, or else for another value.
    static func argument(_ key: String, _ value: JSONValue) -> [JSONValue] {
        guard key == "arguments", case .object(let arguments) = value else { return [] }
        let names = arguments.keys.sorted()
        return names.enumerated().map { index, name in
            let next = names[(index + 1) % names.count]
            var changed = arguments
            changed[name] = next == name ? .string("another") : arguments[next]
            return .object(changed)
        }
    }

    /// A change only in the actions of a rule.
    static func inActions(_ change: @escaping JSONValue.Change) -> JSONValue.Change {
        { key, value in key == "do" ? value.variants(change) : [] }
    }
}

extension JSONValue {
    /// Returns what may replace a member of an object.
    fileprivate typealias Change = (_ key: String, _ value: JSONValue) -> [JSONValue]

    /// The values in which one member, at any depth, is changed.
    fileprivate func variants(_ change: Change) -> [JSONValue] {
        switch self {
        case .object(let members):
            members.keys.sorted().flatMap { key -> [JSONValue] in
                guard let value = members[key] else { return [] }
                let changed = change(key, value)
                return (changed.isEmpty ? value.variants(change) : changed).map {
                    .object(members.merging([key: $0]) { $1 })
                }
            }
        case .array(let elements):
            elements.indices.flatMap { index in
                elements[index].variants(change).map { changed in
                    .array(elements.indices.map { $0 == index ? changed : elements[$0] })
                }
            }
        default: []
        }
    }

    fileprivate func value(at path: [String]) -> JSONValue? {
        path.reduce(self) { $0?.objectValue?[$1] }
    }

    fileprivate func replacing(_ value: JSONValue, at path: [String]) -> JSONValue {
        guard let name = path.first, case .object(var members) = self else { return value }
        members[name] = (members[name] ?? .null).replacing(value, at: Array(path.dropFirst()))
        return .object(members)
    }
}

extension [JSONValue] {
    /// The arrays that lack one element.
    fileprivate var without: [JSONValue] {
        indices.map { index in .array(indices.filter { $0 != index }.map { self[$0] }) }
    }
}
