internal import FlowReview
internal import Navigation
internal import Support

/// The data that an exploration gives to the messages of a type.
///
/// Only the fields that the flow reads matter. A field has the constants with which rules compare it, and two further
/// values: rules that compare values only with each other cannot distinguish more.
struct MessageValues {
    /// The number of different data of one type above which not all combinations of fields are explored.
    private static let limit = 64

    private let catalogue: MessageCatalogue
    private var fields: [String: [String: Field]] = [:]

    private struct Field {
        var constants: [JSONValue] = []
        var canBeAbsent = false

        mutating func add(_ match: Flow.Match) {
            constants += (match.anyOf ?? []) + match.noneOf
            // The values at a limit, and on both sides of it.
            for limit in [match.atLeast, match.atMost].compactMap(\.self) {
                constants += [.number(limit), .number(limit - 1), .number(limit + 1)]
            }
            if match.exists != nil { canBeAbsent = true }
        }
    }

    init(of flows: [Flow], _ catalogue: MessageCatalogue) {
        self.catalogue = flows.reduce(catalogue) { $0.adding($1.commands) }
        for (_, rule) in flows.flatMap(\.placedRules) {
            add(rule.fields, of: rule.on)
            for answer in [rule.guard?.accept, rule.guard?.reject].compactMap(\.self) {
                add(answer.fields, of: answer.on)
            }
            let conditions = (rule.when + rule.unless).flatMap(\.screens).flatMap(\.arguments.values)
            add(conditions.flatMap { ($0.anyOf ?? []) + $0.noneOf }.flatMap(\.texts), .data, of: rule.on)
            for (_, actions, answer) in rule.answeredActions {
                let texts = actions.flatMap(\.templateTexts)
                add(texts, .data, of: rule.on)
                add(texts, .answer, of: answer)
            }
        }
    }

    private mutating func add(_ matches: [String: Flow.Match], of types: [String]) {
        for type in types {
            for (path, match) in matches { fields[type, default: [:]][path, default: Field()].add(match) }
        }
    }

    /// Adds the fields to which templates refer.
    private mutating func add(_ texts: [String], _ scope: Template.Scope, of types: [String]) {
        for template in texts.compactMap({ try? Template($0) }) {
            let isOptional = template.placeholders.contains { $0.isOptional || $0.standby != nil }
            for path in template.paths(in: scope) {
                for type in types {
                    fields[type, default: [:]][path, default: Field()].canBeAbsent =
                        isOptional || fields[type]?[path]?.canBeAbsent == true
                }
            }
        }
    }

    /// Data of a message, and whether the flow or the contract names all of its values.
    struct Choice {
        fileprivate(set) var data: JSONValue = .object([:])
        fileprivate(set) var isNamed = true

        fileprivate func setting(_ value: Value, at path: String) -> Choice {
            Choice(data: data.setting(value.value, at: path), isNamed: isNamed && value.isNamed)
        }
    }

    /// A value of a field. Nil stands for a missing field.
    fileprivate struct Value {
        let value: JSONValue?
        let isNamed: Bool
    }

    /// The different data of a type.
    /// - Returns: The data; and false if they are only a part, because there are too many combinations.
    func choices(of type: String) -> (choices: [Choice], areAll: Bool) {
        let fields = (fields[type] ?? [:]).sorted { $0.key < $1.key }.map {
            ($0.key, values($0.value, $0.key, of: type))
        }
        let count = fields.reduce(1) { min($0 * $1.1.count, Self.limit + 1) }
        guard count > Self.limit else {
            var choices = [Choice()]
            for (path, values) in fields {
                choices = choices.flatMap { choice in values.map { choice.setting($0, at: path) } }
            }
            return (choices, true)
        }
        // Each field in turn has all of its values, while the others have their first.
        let first = fields.reduce(Choice()) { $0.setting($1.1[0], at: $1.0) }
        let others = fields.flatMap { path, values in values.dropFirst().map { first.setting($0, at: path) } }
        return ([first] + others.prefix(Self.limit), false)
    }

    /// The values of a field, at least one.
    private func values(_ field: Field, _ path: String, of type: String) -> [Value] {
        var schema = JSONSchema.any
        if case .found(let found)? = catalogue.data[type]?.field(at: path) { schema = found }
        var values = schema.values.map { Value(value: $0, isNamed: true) }
        if values.isEmpty { values = schema.examples.map { Value(value: $0, isNamed: false) } }
        for constant in field.constants
        where !values.contains(where: { $0.value == constant }) && schema.problems(with: constant).isEmpty {
            values.append(Value(value: constant, isNamed: true))
        }
        return values + (field.canBeAbsent ? [Value(value: nil, isNamed: false)] : [])
    }

    /// Values of a schema, at least one: all if there are few, otherwise two that no flow is likely to name.
    static func values(of schema: JSONSchema) -> [JSONValue] {
        let values = schema.values
        return values.isEmpty ? schema.examples : values
    }
}

extension JSONSchema {
    /// All values, if the schema has few. Empty for other schemas.
    fileprivate var values: [JSONValue] {
        switch self {
        case .nullable(let schema): schema.values
        case .enumeration(let values): values
        case .boolean: [true, false]
        default: []
        }
    }

    /// Two values that no flow is likely to name.
    fileprivate var examples: [JSONValue] {
        switch self {
        case .nullable(let schema): schema.examples
        case .integer: [1001, 1002]
        case .number: [1001.5, 1002.5]
        case .range(let schema, nil, nil): schema.examples
        case .range(_, let least, let most): [least ?? most, most ?? least].compactMap(\.self).map { .number($0) }
        // As URLs, so that a flow can open them.
        default: ["new:1", "new:2"]
        }
    }
}

extension JSONValue {
    /// The value with another one at a dotted path. Nil removes it.
    fileprivate func setting(_ value: JSONValue?, at path: String) -> JSONValue {
        var members = objectValue ?? [:]
        if let (name, rest) = path.cut(at: ".") {
            members[String(name)] = (members[String(name)] ?? .object([:])).setting(value, at: String(rest))
        } else {
            members[path] = value
        }
        return .object(members)
    }
}
