internal import Yams

extension YAMLReader {
    /// Any JSON value.
    mutating func value(_ node: Node) -> JSONValue {
        switch node {
        case .scalar(let scalar): return Self.value(of: scalar)
        case .sequence(let elements): return .array(elements.map { value($0) })
        case .mapping: return .object(object(node))
        case .alias:
            report("an alias cannot stand here; write the value out", at: node)
            return .null
        }
    }

    /// A mapping of any keys to JSON values.
    mutating func object(_ node: Node) -> [String: JSONValue] {
        guard case .mapping(let mapping) = node else {
            report("expected a mapping of names to values", at: node)
            return [:]
        }
        var object: [String: JSONValue] = [:]
        for (key, member) in mapping {
            guard let name = name(of: key) else {
                report("a key must be a string", at: key)
                continue
            }
            object[name] = value(member)
        }
        return object
    }

    mutating func bool(_ node: Node, _ what: String) -> Bool? {
        scalar(node, "\(what) must be true or false", \.boolValue)
    }

    mutating func number(_ node: Node, _ what: String) -> Double? {
        scalar(node, "\(what) must be a number", \.numberValue)
    }

    mutating func integer(_ node: Node, _ what: String) -> Int? {
        // 1.0 is one in a message, but nothing that a person counts with.
        scalar(node, "\(what) must be a whole number") { value in
            if case .integer(let integer) = value { integer } else { nil }
        }
    }

    private mutating func scalar<Value>(
        _ node: Node, _ complaint: String, _ read: (JSONValue) -> Value?
    ) -> Value? {
        guard case .scalar(let scalar) = node, let value = read(Self.value(of: scalar)) else {
            report(complaint, at: node)
            return nil
        }
        return value
    }

    mutating func duration(_ node: Node, _ what: String) -> Duration? {
        guard let text = string(node, what) else { return nil }
        if let duration = Duration(text: text) { return duration }
        report("'\(text)' is no duration; write a whole number and ms, s, m, h or d, such as 5s", at: node)
        return nil
    }

    /// Resolves plain scalars by YAML 1.2's JSON rules. Yams follows YAML 1.1, to which `on`, `yes` and `no` are truth
    /// values, `1:30` is a number and `2026-11-21` a date: none of what someone who names a screen would expect.
    static func value(ofPlain text: String) -> JSONValue {
        switch text {
        case "", "~", "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        if let value = Int(text) { return .integer(value) }
        // Double also reads `nan` and `infinity`, which are words here.
        guard text.first.map({ $0.isNumber || "+-.".contains($0) }) == true, let value = Double(text), value.isFinite
        else { return .string(text) }
        return .number(value)
    }

    private static func value(of scalar: Node.Scalar) -> JSONValue {
        scalar.style == .plain ? value(ofPlain: scalar.string) : .string(scalar.string)
    }
}
