internal import Support

extension FlowReader {
    /// Reads the screens of a condition: one screen or a list.
    mutating func conditionScreens(_ node: FlowNode, _ scope: String, at keyPath: String) -> [Flow.Condition.Screen] {
        let nodes = if case .sequence(let elements) = node.content { elements } else { [node] }
        var screens: [Flow.Condition.Screen] = []
        for node in nodes {
            let keyPath = "\(keyPath)[\(screens.count)]"
            record(keyPath, at: node)
            if let screen = conditionScreen(node, scope, at: keyPath) { screens.append(screen) }
        }
        return screens
    }

    private mutating func conditionScreen(
        _ node: FlowNode, _ scope: String, at keyPath: String
    ) -> Flow.Condition.Screen? {
        if case .scalar = node.content {
            record("\(keyPath).screen", at: node)
            return string(node, "a screen's name").map { .screen($0) }
        }
        let members = members(of: node, "'\(scope)'", at: keyPath, required: ["screen"], optional: ["arguments"])
        guard let members, let screen = members["screen"].flatMap({ string($0, "a screen's name") }) else { return nil }
        return .screen(screen, members["arguments"].map { argumentConditions($0, at: "\(keyPath).arguments") } ?? [:])
    }

    /// Reads conditions on arguments. A mapping whose keys are all operators has conditions, any other mapping is a
    /// value.
    private mutating func argumentConditions(_ node: FlowNode, at keyPath: String) -> [String: Flow.Match] {
        guard let mapping = node.mapping else {
            report("expected a mapping of names to values or conditions", at: node)
            return [:]
        }
        var conditions: [String: Flow.Match] = [:]
        for (key, node) in mapping {
            guard let name = name(of: key) else {
                report("a key must be a string", at: key)
                continue
            }
            record("\(keyPath).\(name)", at: key)
            let isValue =
                node.mapping.map { !Flow.Match.areOperators($0.compactMap { self.name(of: $0.key) }) } ?? false
            conditions[name] =
                isValue ? Flow.Match(anyOf: [value(node)]) : match(node, name, at: "\(keyPath).\(name)")
        }
        return conditions
    }
}
