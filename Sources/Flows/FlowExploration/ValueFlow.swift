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

    /// Joins what the actions or the targets of a link set with the sources of its templates.
    /// - Parameter owners: The types of the messages that a scope means, or the screens.
    private mutating func add(sinksOf json: JSONValue, of flow: Flow, _ owners: (Template.Scope) -> [String]) {
        switch json {
        case .array(let elements): for element in elements { add(sinksOf: element, of: flow, owners) }
        case .object(let members):
            let screen =
                members["screen"]?.stringValue ?? members["flow"]?.stringValue.flatMap { flow.flows[$0]?.start }
            for (name, value) in members["arguments"]?.objectValue ?? [:] {
                if let screen { join(.argument(screen: screen, name: name), value, flow, owners) }
            }
            if let type = members["type"]?.stringValue {
                for (name, value) in members["data"]?.objectValue ?? [:] {
                    join(.field(type: type, path: name), value, flow, owners)
                }
            }
            for (name, value) in members["finish"]?.objectValue ?? [:] {
                join(.field(type: Flow.Ending.finished.rawValue, path: "result.\(name)"), value, flow, owners)
            }
            for value in members.values { add(sinksOf: value, of: flow, owners) }
        default: break
        }
    }

    private mutating func join(
        _ sink: Place, _ value: JSONValue, _ flow: Flow, _ owners: (Template.Scope) -> [String]
    ) {
        // A text with more than the template, or an object with it, is another value.
        let isWhole = value.stringValue.map {
            $0.begins(with: "${") && $0.unicodeScalars.count { $0 == "$" } == 1 && $0.ends(with: "}")
        }
        for text in value.texts {
            for source in sources(of: text, of: flow, owners) {
                join(sink, source)
                if isWhole != true { change(sink) { $0.isComposed = true } }
            }
        }
    }

    /// The places of the values of templates.
    private mutating func sources(of text: String, of flow: Flow?, _ owners: (Template.Scope) -> [String]) -> [Place] {
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
        // Any screen that can have the argument may be the one that is meant.
        for path in template.paths(in: .sender) + template.paths(in: .arguments) {
            let name = path.cut(at: ".").map { String($0.before) } ?? path
            let owners = (flow?.screens.values).map(Array.init) ?? []
            let screens = owners.filter { $0.arguments.map { $0[name] != nil } ?? true }.map(\.name)
            let found = screens.sorted().map { Place.argument(screen: $0, name: name) }
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
