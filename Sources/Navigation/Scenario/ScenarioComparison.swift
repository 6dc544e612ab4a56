extension Scenario.Stated {
    /// Whether this is what was found.
    func holds(for found: JSONValue) -> Bool { Self.holds(value, found) }

    private static func holds(_ expected: JSONValue, _ found: JSONValue) -> Bool {
        switch (expected, found) {
        case (.array(let expected), .array(let found)):
            expected.count == found.count && zip(expected, found).allSatisfy { holds($0, $1) }
        case (.string(let name), .object(let found)): isName(name, of: found) && found["path"] == nil
        case (.object(let expected), .object(let found)): holds(expected, found)
        default: expected == found
        }
    }

    /// What is named by a member of its own, of which a scenario says what it cares for.
    private static func holds(_ expected: [String: JSONValue], _ found: [String: JSONValue]) -> Bool {
        guard expected["screen"] != nil || expected["type"] != nil else {
            // These are lists by name.
            return expected.keys == found.keys && expected.allSatisfy { holds($1, found[$0] ?? []) }
        }
        guard found["path"] == nil || expected["path"] != nil else { return false }
        return expected.allSatisfy { name, value in
            switch name {
            case "screen", "type": value.stringValue.map { isName($0, of: found) } ?? false
            case "path": holds(value, found[name] ?? [])
            case "arguments", "data": value == found[name] ?? [:]
            default: value == found[name]
            }
        }
    }

    private static func isName(_ name: String, of found: [String: JSONValue]) -> Bool {
        // A reason is a sentence, of which a part is enough.
        if let reason = found["reason"]?.stringValue, reason.contains(name) { return true }
        return ["screen", "instance", "type", "flow", "run", "code"].contains { found[$0]?.stringValue == name }
    }
}
