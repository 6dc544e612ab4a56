internal import Yams

extension YAMLReader {
    /// What a rule asks of a message's fields, by dotted path.
    mutating func fields(_ node: Node, at place: String) -> [String: Flow.Match] {
        guard case .mapping(let mapping) = node else {
            report("'where' must be a mapping of fields to what they must be", at: node)
            return [:]
        }
        var fields: [String: Flow.Match] = [:]
        for (key, node) in mapping {
            guard let field = string(key, "a field's path") else { continue }
            fields[field] = match(node, field, at: "\(place).\(field)")
            note("\(place).\(field)", at: key)
        }
        return fields
    }

    private mutating func match(_ node: Node, _ field: String, at place: String) -> Flow.Match? {
        guard case .mapping = node else { return Flow.Match(anyOf: values(node)) }
        let operators = ["anyOf", "not", "exists", "atLeast", "atMost"]
        let what = "what '\(field)' must be"
        guard let members = members(of: node, what, at: place, optional: operators) else { return nil }
        return Flow.Match(
            anyOf: members["anyOf"].map { values($0) },
            noneOf: members["not"].map { values($0) } ?? [],
            exists: members["exists"].flatMap { bool($0, "exists") },
            atLeast: members["atLeast"].flatMap { number($0, "atLeast") },
            atMost: members["atMost"].flatMap { number($0, "atMost") }
        )
    }

    private mutating func values(_ node: Node) -> [JSONValue] {
        let value = value(node)
        return value.arrayValue ?? [value]
    }

    mutating func conditions(_ node: Node, _ what: String, at location: String) -> [Flow.Condition] {
        let places = Flow.Condition.Place.allCases
        let members = members(of: node, "'\(what)'", at: location, optional: places.map(\.rawValue))
        return places.compactMap { place in
            guard let node = members?[place.rawValue] else { return nil }
            if place == .tab {
                return strings(node, "a tab's name").map { Flow.Condition(place, $0.map { .screen($0) }) }
            }
            return Flow.Condition(place, destinations(node, place.rawValue, at: "\(location).\(place.rawValue)"))
        }
    }
}
