internal import FlowReview
internal import Navigation
internal import Support

/// The data that an exploration gives to the messages of a type.
///
/// Only the fields that the flow reads matter. A field has the constants with which rules compare it, or what gets its
/// value, and two further values.
struct MessageValues {
    /// The number of different data of one type above which not all combinations of fields are explored.
    static let limit = 64

    /// The number of comparisons of one value with others above which no further examples are made.
    private static let comparisonLimit = 4

    private let catalogue: MessageCatalogue
    private let flow: ValueFlow
    /// The fields that rules read, by type and path.
    private var fields: [String: [String: Field]] = [:]

    private struct Field {
        var canBeAbsent = false
        /// True if a template refers to it.
        var isPassedOn = false
    }

    init(of flows: [Flow], _ catalogue: MessageCatalogue) {
        self.catalogue = flows.reduce(catalogue) { $0.adding($1.commands) }
        flow = ValueFlow(of: flows)
        for flow in flows {
            for (_, rule) in flow.placedRules {
                add(rule.fields, of: rule.on)
                for answer in [rule.guard?.accept, rule.guard?.reject].compactMap(\.self) {
                    add(answer.fields, of: answer.on)
                }
                let conditions = (rule.when + rule.unless).flatMap(\.screens).flatMap(\.arguments.values)
                add(conditions.flatMap { ($0.anyOf ?? []) + $0.noneOf }.flatMap(\.texts), .data, of: rule.on)
                for (_, actions, answer) in rule.answeredActions {
                    for action in actions {
                        let texts = action.templateTexts
                        add(texts, .data, of: rule.on)
                        add(texts, .answer, of: answer)
                        // An optional argument is left out if the message has no value for it.
                        let optional = flow.sinks(in: action.json).filter(\.isOptional).compactMap(\.value.stringValue)
                        add(optional, .data, of: rule.on, canBeAbsent: true)
                        add(optional, .answer, of: answer, canBeAbsent: true)
                    }
                }
            }
        }
    }

    private mutating func add(_ matches: [String: Flow.Match], of types: [String]) {
        for type in types {
            for (path, match) in matches {
                fields[type, default: [:]][path, default: Field()].canBeAbsent =
                    match.exists != nil || fields[type]?[path]?.canBeAbsent == true
            }
        }
    }

    /// Adds the fields to which templates refer.
    private mutating func add(
        _ texts: [String], _ scope: Template.Scope, of types: [String], canBeAbsent: Bool = false
    ) {
        for template in texts.compactMap({ try? Template($0) }) {
            let isOptional = canBeAbsent || template.placeholders.contains { $0.isOptional || $0.standby != nil }
            for path in template.paths(in: scope) {
                for type in types {
                    fields[type, default: [:]][path, default: Field()].canBeAbsent =
                        isOptional || fields[type]?[path]?.canBeAbsent == true
                    fields[type]?[path]?.isPassedOn = true
                }
            }
        }
    }

    /// Data of a message, and whether the flow or the contract names all of its values.
    struct Choice {
        fileprivate(set) var data: JSONValue = .object([:])
        fileprivate(set) var isNamed = true
        /// The paths that have a value without members, or none.
        private var closed: Set<String> = []

        fileprivate func setting(_ value: Value, at path: String) -> Choice {
            var choice = self
            if value.isContainer { return choice }
            choice.data = data.setting(value.value, at: path)
            choice.isNamed = isNamed && value.isNamed
            choice.closed.insert("\(path).")
            return choice
        }

        /// True if the field cannot be there, because the field that would contain it has another value.
        fileprivate func excludes(_ path: String) -> Bool { closed.contains { path.begins(with: $0) } }
    }

    /// A value of a field. Nil stands for a missing field.
    fileprivate struct Value {
        let value: JSONValue?
        let isNamed: Bool
        /// True for an object whose members are fields of their own.
        var isContainer = false
    }

    /// The different data of a type.
    /// - Returns: The data; and false if they are only a part, because there are too many combinations.
    func choices(of type: String) -> (choices: [Choice], areAll: Bool) {
        // A field comes before those in it.
        let fields = (fields[type] ?? [:]).sorted { $0.key < $1.key }
        // Of an object with members that matter, and that is also passed on as a whole, there are many more.
        var areAll = true
        let values = fields.map { path, field in
            let isContainer = fields.contains { $0.key.begins(with: "\(path).") }
            if isContainer && field.isPassedOn || flow[.field(type: type, path: path)].isComposed { areAll = false }
            let container = isContainer ? [Value(value: nil, isNamed: true, isContainer: true)] : []
            return (path, container + self.values(field, path, of: type))
        }
        var choices = [Choice()]
        for (path, values) in values {
            choices = choices.flatMap { choice in
                choice.excludes(path) ? [choice] : values.map { choice.setting($0, at: path) }
            }
            if choices.count > Self.limit { return (few(fields, of: type), false) }
        }
        return (choices, areAll)
    }

    /// Data in which each field in turn has all of its values, while the others have their first.
    private func few(_ fields: [(key: String, value: Field)], of type: String) -> [Choice] {
        let values = fields.map { ($0.key, self.values($0.value, $0.key, of: type)) }
        let first = values.reduce(Choice()) { $0.setting($1.1[0], at: $1.0) }
        let others = values.flatMap { path, values in values.dropFirst().map { first.setting($0, at: path) } }
        return [first] + others.prefix(Self.limit)
    }

    /// The values of a field, at least one.
    private func values(_ field: Field, _ path: String, of type: String) -> [Value] {
        var schema: JSONSchema?
        if case .found(let found)? = catalogue.data[type]?.field(at: path) { schema = found }
        let values = Self.values(flow[.field(type: type, path: path)], schema)
        let isOptional = field.canBeAbsent || catalogue.data[type]?.members?[path]?.isRequired == false
        return values + (isOptional ? [Value(value: nil, isNamed: false)] : [])
    }

    /// The values of a placeholder of URLs.
    func values(ofPlaceholder name: String, _ schema: JSONSchema) -> [JSONValue] {
        Self.values(flow[.placeholder(name)], schema).compactMap(\.value)
    }

    /// - Parameter schema: Nil if the value may have any type.
    private static func values(_ facts: ValueFlow.Facts, _ schema: JSONSchema?) -> [Value] {
        let allowed = schema ?? .any
        var values = allowed.values.map { Value(value: $0, isNamed: true) }
        if values.isEmpty {
            // What can have the same value gets the same examples. Without a declared type, there are others, too.
            var examples = facts.schemas.flatMap(\.fewExamples).sorted { $0.description < $1.description }
            if allowed == .any || examples.isEmpty { examples += allowed.examples }
            if allowed == .any, facts.isNumeric { examples += JSONSchema.integer.examples }
            examples = examples.distinct.filter { allowed.problems(with: $0).isEmpty }
            if examples.count < 2 { examples = (examples + allowed.examples).distinct }
            // Values that are compared with each other can all be different.
            if let last = examples.last {
                let count = min(facts.comparisonCount, Self.comparisonLimit) + 1
                if count > examples.count { examples += (0..<count - examples.count).map { last.another($0 + 3) } }
            }
            values = examples.map { Value(value: $0, isNamed: false) }
        }
        let constants = facts.constants + facts.constants.compactMap(\.inOtherType) + facts.constants.beyond
        // In an order of their own, so that each run tells the same stories.
        for constant in constants.sorted(by: { $0.description < $1.description })
        where !values.contains(where: { $0.value == constant }) && allowed.problems(with: constant).isEmpty {
            values.append(Value(value: constant, isNamed: true))
        }
        return values
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

    /// All values if there are few, otherwise two that no flow is likely to name.
    fileprivate var fewExamples: [JSONValue] { values.isEmpty ? examples : values }

    /// Values that no flow is likely to name: at least two, if there are as many.
    fileprivate var examples: [JSONValue] {
        switch self {
        case .nullable(let schema): schema.examples
        case .integer: [1001, 1002]
        case .number: [1001.5, 1002.5]
        case .range(let schema, nil, nil): schema.examples
        // The bounds, those beside them, and some beyond.
        case .range(_, let least, let most):
            ((least.map { [$0, $0 + 1, $0 + 2, $0 + 1001] } ?? [])
                + (most.map { [$0, $0 - 1, $0 - 2, $0 - 1001] } ?? []))
                .map { .number($0) }.distinct.filter { problems(with: $0).isEmpty }
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

extension [JSONValue] {
    fileprivate var distinct: [JSONValue] {
        reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

extension JSONValue {
    /// A further example.
    fileprivate func another(_ number: Int) -> JSONValue {
        switch self {
        case .string(let text): .string("\(text)\(number)")
        default: numberValue.map { .number($0 + Double(number)) } ?? self
        }
    }

    /// The same argument in another type: a number as text, or the number that a text writes.
    fileprivate var inOtherType: JSONValue? {
        switch self {
        case .string(let text): Double(text).map { .number($0) }
        default: argumentText.map { .string($0) }
        }
    }
}

extension [JSONValue] {
    /// The numbers below and above all others.
    fileprivate var beyond: [JSONValue] {
        let numbers = compactMap(\.numberValue)
        guard let least = numbers.min(), let most = numbers.max() else { return [] }
        return [.number(least - 1), .number(most + 1)]
    }
}
