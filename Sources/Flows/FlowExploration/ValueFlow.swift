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
        private(set) var schema: JSONSchema?
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
            if self.schema == nil, schema != .any { self.schema = schema }
        }

        fileprivate mutating func add(_ other: Facts) {
            other.constants.forEach { add($0) }
            if let schema = other.schema { add(schema) }
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
            for (_, rule) in flow.placedRules { add(rule, of: flow) }
            for link in flow.links {
                add((link.when + link.unless).flatMap(\.screens), of: [])
                add(sinksOf: link.json) { _ in [] }
            }
        }
    }

    /// What is known about a place.
    subscript(place: Place) -> Facts { facts[root(of: place)] ?? Facts() }

    private mutating func add(_ rule: Flow.Transition, of flow: Flow) {
        let senders = flow.screens.values.filter { !Set($0.sends).isDisjoint(with: rule.on) }.map(\.name)
        add(rule.fields, of: rule.on)
        for answer in [rule.guard?.accept, rule.guard?.reject].compactMap(\.self) { add(answer.fields, of: answer.on) }
        add((rule.when + rule.unless).flatMap(\.screens), of: rule.on)
        for (_, actions, answer) in rule.answeredActions {
            for action in actions {
                add(sinksOf: action.json) { scope in
                    switch scope {
                    case .data: rule.on
                    case .answer: answer
                    case .sender: senders
                    case .arguments, .screens: []
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
                    for source in sources(of: text, screen: screen.screen, { $0 == .data ? types : [] }) {
                        join(place, source)
                        change(place) { $0.comparisonCount += 1 }
                    }
                }
            }
        }
    }

    /// Joins what the actions or the targets of a link set with the sources of its templates.
    /// - Parameter owners: The types of the messages that a scope means, or the screens.
    private mutating func add(sinksOf json: JSONValue, screen: String? = nil, _ owners: (Template.Scope) -> [String]) {
        switch json {
        case .array(let elements): for element in elements { add(sinksOf: element, screen: screen, owners) }
        case .object(let members):
            let screen = members["screen"]?.stringValue ?? screen
            for (name, value) in members["arguments"]?.objectValue ?? [:] {
                if let screen { join(.argument(screen: screen, name: name), value, screen, owners) }
            }
            if let type = members["type"]?.stringValue {
                for (name, value) in members["data"]?.objectValue ?? [:] {
                    join(.field(type: type, path: name), value, screen, owners)
                }
            }
            for (name, value) in members["finish"]?.objectValue ?? [:] {
                join(.field(type: Flow.Ending.finished.rawValue, path: "result.\(name)"), value, screen, owners)
            }
            for value in members.values { add(sinksOf: value, screen: screen, owners) }
        default: break
        }
    }

    private mutating func join(
        _ sink: Place, _ value: JSONValue, _ screen: String?, _ owners: (Template.Scope) -> [String]
    ) {
        for text in value.texts {
            for source in sources(of: text, screen: screen, owners) { join(sink, source) }
        }
    }

    /// The places of the values of templates.
    private func sources(of text: String, screen: String?, _ owners: (Template.Scope) -> [String]) -> [Place] {
        guard text.contains(scalars: "${") else { return [] }
        if let rest = text.removing(prefix: "${url.") {
            let name = rest.unicodeScalars.prefix { $0 != "}" && $0 != ":" }
            return [.placeholder(String(name))]
        }
        guard let template = try? Template(text) else { return [] }
        var places: [Place] = []
        for scope in [Template.Scope.data, .answer] {
            for path in template.paths(in: scope) { places += owners(scope).map { .field(type: $0, path: path) } }
        }
        for name in template.paths(in: .sender) { places += owners(.sender).map { .argument(screen: $0, name: name) } }
        for name in template.paths(in: .arguments) {
            if let screen { places.append(.argument(screen: screen, name: name)) }
        }
        for path in template.paths(in: .screens) {
            if let (screen, name) = path.cut(at: ".") {
                places.append(.argument(screen: String(screen), name: String(name)))
            }
        }
        return places
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
