extension Scenario.Outcome: CustomStringConvertible {
    /// The step in one line: what happened, and what has changed.
    public var description: String {
        let messages = messages.map { input in
            input.type + (input.sender.map { " of \($0)" } ?? "")
        }
        let changes = Scenario.Aspect.allCases.filter { !$0.isDerived }.compactMap { aspect in
            self.changes[aspect].map { "\(aspect.rawValue): \(ScenarioText.text(of: $0))" }
        }
        let happened = messages.isEmpty ? "nothing could happen" : messages.joined(separator: ", ")
        return "\(number). \(happened) → \(changes.isEmpty ? "nothing" : changes.joined(separator: "; "))"
    }

    /// The same for programs.
    public var json: JSONValue {
        .object(members: [
            ("step", .integer(number)),
            ("line", .integer(step.position.line)),
            ("column", .integer(step.position.column)),
            ("messages", .array(messages.map(\.json))),
            ("changes", .object(Dictionary(uniqueKeysWithValues: changes.map { ($0.rawValue, $1) }))),
            ("failures", .array(failures.map(\.json))),
        ])
    }
}

extension Scenario.Failure {
    /// Where and what, and beneath it what was expected and what came of it, as in a diff.
    ///
    /// - Parameter file: The name of the scenario's file.
    public func lines(in file: String) -> [String] {
        let name = aspect.map { "\($0.rawValue): " } ?? ""
        return ["\(file):\(position.line):\(position.column): \(message)"]
            + (expected.map { ["  - \(name)\(ScenarioText.text(of: $0))"] } ?? [])
            + (found.map { ["  + \(name)\(ScenarioText.text(of: $0))"] } ?? [])
    }

    var json: JSONValue {
        .object(members: [
            ("line", .integer(position.line)), ("column", .integer(position.column)),
            ("aspect", aspect.map { .string($0.rawValue) }), ("message", .string(message)),
            ("expected", expected), ("found", found),
        ])
    }
}

extension Machine.Input {
    /// The instance that it comes from or is about.
    fileprivate var sender: String? { attributes.instance ?? data["instance"]?.stringValue }

    fileprivate var json: JSONValue {
        .object(members: [
            ("id", .string(id)), ("type", .string(type)), ("data", data == [:] ? nil : data),
            ("platform", attributes.platform.map { .string($0) }),
            ("instance", attributes.instance.map { .string($0) }),
            ("causationID", attributes.causationID.map { .string($0) }),
        ])
    }
}

/// What is expected and what is found, in few words.
private enum ScenarioText {
    static func text(of value: JSONValue) -> String {
        switch value {
        case .array(let elements): "[\(elements.map { text(of: $0) }.joined(separator: ", "))]"
        case .object(let members): text(of: members)
        case .string(let text): text
        default: value.description
        }
    }

    private static func text(of members: [String: JSONValue]) -> String {
        if let reason = members["reason"]?.stringValue { return reason }
        let names = ["instance", "screen", "run", "type"]
        guard let name = names.compactMap({ members[$0]?.stringValue }).first else {
            let sorted = members.sorted { $0.key < $1.key }
            return "{\(sorted.map { "\($0): \(text(of: $1))" }.joined(separator: ", "))}"
        }
        let details = ["arguments", "data"].compactMap { members[$0]?.description }
        let others = ["container", "style", "title", "message", "path"].compactMap { key in
            members[key].map { "\(key): \(text(of: $0))" }
        }
        let inBrackets = others.isEmpty ? [] : ["(\(others.joined(separator: ", ")))"]
        return ([name] + details + inBrackets).joined(separator: " ")
    }
}
