internal import Yams

extension YAMLReader {
    /// What shall come of a step; `expect: {}` is nothing at all.
    mutating func expectation(
        _ node: Node, _ position: Scenario.Position, _ flow: Flow
    ) -> Scenario.Expectation? {
        if isEmpty(node) { return Scenario.Expectation(position: position, stated: [:]) }
        guard case .mapping(let mapping) = node else {
            report("'expect' must be a mapping of what is expected, such as { root: SCREEN }", at: node)
            return nil
        }
        var stated: [Scenario.Aspect: Scenario.Stated] = [:]
        for (key, value) in mapping {
            let word = name(of: key) ?? ""
            guard let aspect = Scenario.Aspect(rawValue: word) else {
                let advice = Spelling.advice(for: word, among: Scenario.Aspect.allCases.map(\.rawValue))
                report("unknown key '\(word)' in 'expect'; \(advice)", at: key)
                continue
            }
            let expected = expected(value, aspect, flow)
            stated[aspect] = Scenario.Stated(position: self.position(of: key), value: expected)
        }
        return Scenario.Expectation(position: position, stated: stated)
    }

    private mutating func expected(_ node: Node, _ aspect: Scenario.Aspect, _ flow: Flow) -> JSONValue {
        guard aspect.isNamed else { return list(node, aspect, flow) }
        if isEmpty(node) { return [:] }
        guard case .mapping(let mapping) = node else {
            report("'\(aspect.rawValue)' must be a mapping of names to screens", at: node)
            return [:]
        }
        let members = mapping.map { key, node in (name(of: key) ?? "", list(node, aspect, flow)) }
        return .object(Dictionary(members) { first, _ in first })
    }

    /// A list, or one thing in place of a list of one.
    private mutating func list(_ node: Node, _ aspect: Scenario.Aspect, _ flow: Flow) -> JSONValue {
        if isEmpty(node) { return [] }
        let nodes: [Node] = if case .sequence(let elements) = node { Array(elements) } else { [node] }
        return .array(nodes.compactMap { element($0, aspect, flow) })
    }

    private mutating func element(_ node: Node, _ aspect: Scenario.Aspect, _ flow: Flow) -> JSONValue? {
        switch aspect {
        case .root: return screen(node, aspect, ["container"], flow)
        case .presented: return screen(node, aspect, ["style", "title", "message", "path"], flow)
        case .top, .path, .columns, .tabs, .leaving, .dismissed: return screen(node, aspect, [], flow)
        case .sent: return sent(node)
        case .attempt, .queue, .commands: return messageType(node).map { .string($0) }
        case .tab, .runs, .parked, .opened, .discarded, .failed:
            return string(node, "what is expected of '\(aspect.rawValue)'").map { .string($0) }
        }
    }

    private mutating func screen(
        _ node: Node, _ aspect: Scenario.Aspect, _ more: [String], _ flow: Flow
    ) -> JSONValue? {
        if case .scalar = node { return reference(node, flow).map { .string($0) } }
        let optional = ["arguments"] + more
        let members = members(
            of: node, "what is expected of '\(aspect.rawValue)'", at: "", required: ["screen"], optional: optional)
        guard let members, let screen = members["screen"].flatMap({ reference($0, flow) }) else { return nil }
        var expected: [String: JSONValue] = ["screen": .string(screen)]
        for (name, node) in members where name != "screen" {
            expected[name] =
                switch name {
                case "arguments": .object(object(node))
                case "path": list(node, .path, flow)
                default: string(node, name).map { .string($0) }
                }
        }
        return .object(expected)
    }

    private mutating func sent(_ node: Node) -> JSONValue? {
        if case .scalar = node { return messageType(node).map { .string($0) } }
        let members = members(of: node, "what is sent", at: "", required: ["type"], optional: ["data"])
        guard let members, let type = members["type"].flatMap({ messageType($0) }) else { return nil }
        return .object(members: [("type", .string(type)), ("data", members["data"].map { .object(object($0)) })])
    }
}
