internal import FlowReview
internal import Navigation
internal import Support

/// The places of a flow that have a value, and which of them can have the same value: a field of a message becomes an
/// argument of a screen, and this a field of a command. What a rule compares with one of them matters for all.
struct ValueFlow {
    enum Place: Hashable {
        /// A field of a message, by its dotted path.
        case field(type: String, path: String)
        /// An argument of a screen of a flow.
        case argument(screen: String, name: String)
        /// A placeholder of the URLs of links.
        case placeholder(String)
    }

    /// What is known about places with the same value.
    struct Facts {
        /// The values with which conditions compare.
        private(set) var constants: [JSONValue] = []
        /// The declared types.
        private(set) var schemas: [JSONSchema] = []
        /// True if values are parts of other values or of texts, which the exploration does not follow.
        fileprivate(set) var isComposed = false
        /// The number of conditions that compare these places with each other.
        fileprivate(set) var comparisonCount = 0
        /// True if conditions compare with numbers.
        private(set) var isNumeric = false

        mutating func add(_ match: Flow.Match) {
            for value in (match.anyOf ?? []) + match.noneOf
            where value.texts.allSatisfy({ !$0.contains(scalars: "${") }) {
                add(value)
            }
            // The values at a limit, and on both sides of it.
            for limit in [match.atLeast, match.atMost].compactMap(\.self) {
                for value in [limit, limit - 1, limit + 1] { add(.number(value)) }
            }
        }

        mutating func add(_ schema: JSONSchema) {
            if schema != .any, !schemas.contains(schema) { schemas.append(schema) }
        }

        fileprivate mutating func add(_ other: Facts) {
            other.constants.forEach { add($0) }
            other.schemas.forEach { add($0) }
            isComposed = isComposed || other.isComposed
            comparisonCount += other.comparisonCount
        }

        private mutating func add(_ constant: JSONValue) {
            if constant.numberValue != nil { isNumeric = true }
            if !constants.contains(constant) { constants.append(constant) }
        }
    }

    private var parents: [Place: Place] = [:]
    private var facts: [Place: Facts] = [:]

    init(of flows: [Flow]) {
        for flow in flows {
            for screen in flow.screens.values {
                for (name, property) in screen.arguments ?? [:] {
                    facts[.argument(screen: screen.name, name: name), default: Facts()].add(property.schema)
                }
            }
            for (type, fields) in flow.commands {
                for (name, property) in fields {
                    facts[.field(type: type, path: name), default: Facts()].add(property.schema)
                }
            }
            for (_, rule) in flow.placedRules { add(rule, of: flow) }
            for property in flow.properties {
                add((property.conditions + property.when + property.unless).flatMap(\.screens), of: [])
            }
            for link in flow.links {
                add((link.when + link.unless).flatMap(\.screens), of: [])
                add(sinksOf: link.json, of: flow) { _ in [] }
            }
            markMembers(of: flow)
        }
    }

    /// What is known about a place.
    subscript(place: Place) -> Facts { facts[root(of: place)] ?? Facts() }

    private mutating func add(_ rule: Flow.Transition, of flow: Flow) {
        add(rule.fields, of: rule.on)
        for answer in [rule.guard?.accept, rule.guard?.reject].compactMap(\.self) { add(answer.fields, of: answer.on) }
        add((rule.when + rule.unless).flatMap(\.screens), of: rule.on)
        for (_, actions, answer) in rule.answeredActions {
            for action in actions {
                add(sinksOf: action.json, of: flow) { scope in
                    switch scope {
                    case .data: rule.on
                    case .answer: answer
                    case .sender, .arguments, .screens: []
                    }
                }
            }
        }
    }

    private mutating func add(_ matches: [String: Flow.Match], of types: [String]) {
        for type in types {
            for (path, match) in matches {
                change(.field(type: type, path: path)) { $0.add(match) }
            }
        }
    }

    private mutating func add(_ screens: [Flow.Condition.Screen], of types: [String]) {
        for screen in screens {
            for (name, match) in screen.arguments {
                let place = Place.argument(screen: screen.screen, name: name)
                change(place) { $0.add(match) }
                for text in ((match.anyOf ?? []) + match.noneOf).flatMap(\.texts) {
                    for source in sources(of: text, of: nil, { $0 == .data ? types : [] }) {
                        join(place, source)
                        change(place) { $0.comparisonCount += 1 }
                    }
                }
            }
        }
    }

    /// Joins what an action or a link sets with the sources of its templates.
    /// - Parameter types: The types of the messages that a scope means.
    private mutating func add(sinksOf json: JSONValue, of flow: Flow, _ types: (Template.Scope) -> [String]) {
        for sink in flow.sinks(in: json) { join(sink.place, sink.value, flow, types) }
    }

    private mutating func join(
        _ sink: Place, _ value: JSONValue, _ flow: Flow, _ types: (Template.Scope) -> [String]
    ) {
        // A text with more than the template, or an object with it, is another value.
        let isWhole = value.stringValue.map {
            $0.begins(with: "${") && $0.unicodeScalars.count { $0 == "$" } == 1 && $0.ends(with: "}")
        }
        for text in value.texts {
            for source in sources(of: text, of: flow, types) {
                join(sink, source)
                if isWhole != true { change(sink) { $0.isComposed = true } }
            }
        }
    }

    /// The places of the values of templates.
    private mutating func sources(of text: String, of flow: Flow?, _ types: (Template.Scope) -> [String]) -> [Place] {
        guard text.contains(scalars: "${") else { return [] }
        if let rest = text.removing(prefix: "${url.") {
            let name = rest.unicodeScalars.prefix { $0 != "}" && $0 != ":" }
            return [.placeholder(String(name))]
        }
        guard let template = try? Template(text) else { return [] }
        var places: [Place] = []
        for scope in [Template.Scope.data, .answer] {
            for path in template.paths(in: scope) { places += types(scope).map { .field(type: $0, path: path) } }
        }
        // Any screen that can have the argument may be the one that is meant.
        for path in template.paths(in: .sender) + template.paths(in: .arguments) {
            let name = path.cut(at: ".").map { String($0.before) } ?? path
            let screens = flow?.screens.values.filter { $0.arguments.map { $0[name] != nil } ?? true } ?? []
            let found = screens.map { Place.argument(screen: $0.name, name: name) }
            if name != path { for place in found { change(place) { $0.isComposed = true } } }
            places += found
        }
        for path in template.paths(in: .screens) {
            if let (screen, name) = path.cut(at: ".") {
                let (top, isMember) = name.cut(at: ".").map { (String($0.before), true) } ?? (String(name), false)
                let place = Place.argument(screen: String(screen), name: top)
                if isMember { change(place) { $0.isComposed = true } }
                places.append(place)
            }
        }
        return places
    }

    /// Marks the fields of commands and results that are set as a whole, and of which rules read members.
    private mutating func markMembers(of flow: Flow) {
        let joined = Set(parents.keys).union(parents.values)
        for (_, rule) in flow.placedRules {
            for (type, path) in rule.on.flatMap({ type in rule.fields.keys.map { (type, $0) } }) {
                var parent = path
                while let index = parent.unicodeScalars.lastIndex(of: ".") {
                    parent = String(parent.unicodeScalars[..<index])
                    let place = Place.field(type: type, path: parent)
                    if joined.contains(place) { change(place) { $0.isComposed = true } }
                }
            }
        }
    }

    private mutating func change(_ place: Place, _ change: (inout Facts) -> Void) {
        change(&facts[root(of: place), default: Facts()])
    }

    private mutating func join(_ first: Place, _ second: Place) {
        let (first, second) = (root(of: first), root(of: second))
        guard first != second else { return }
        parents[second] = first
        if let moved = facts.removeValue(forKey: second) { facts[first, default: Facts()].add(moved) }
    }

    private func root(of place: Place) -> Place {
        var place = place
        while let parent = parents[place] { place = parent }
        return place
    }
}

extension Flow {
    /// An argument or a field that an action or a link sets.
    struct Sink {
        let place: ValueFlow.Place
        /// It may have templates.
        let value: JSONValue
        /// True if it is left out when its template has no value.
        let isOptional: Bool
    }

    /// What an action or a link sets, also with buttons and in lists: arguments of screens and of the first screens of
    /// child flows, fields of commands, and results.
    func sinks(in json: JSONValue) -> [Sink] {
        switch json {
        case .array(let elements): return elements.flatMap { sinks(in: $0) }
        case .object(let members):
            let screen = members["screen"]?.stringValue ?? members["flow"]?.stringValue.flatMap { flows[$0]?.start }
            let type = members["type"]?.stringValue
            let own =
                sinks(members["arguments"], screen.flatMap { screens[$0]?.arguments }) { name in
                    screen.map { .argument(screen: $0, name: name) }
                }
                + sinks(members["data"], type.flatMap { commands[$0] }) { name in
                    type.map { .field(type: $0, path: name) }
                }
                + sinks(members["finish"], nil) { .field(type: Ending.finished.rawValue, path: "result.\($0)") }
            return own + members.values.flatMap { sinks(in: $0) }
        default: return []
        }
    }

    private func sinks(
        _ values: JSONValue?, _ declared: [String: JSONSchema.Property]?, _ place: (String) -> ValueFlow.Place?
    ) -> [Sink] {
        (values?.objectValue ?? [:]).compactMap { name, value in
            place(name).map { Sink(place: $0, value: value, isOptional: declared?[name]?.isRequired == false) }
        }
    }
}
