package import Navigation
internal import Support

extension NavigationSnapshot {
    /// The state in one line, with the aspects of scenarios: `root: [list-1]; path: [item-2]`.
    package var stateLine: String {
        let observation = ScenarioObservation(self)
        let values = Scenario.Aspect.allCases.filter { !$0.isEffect }.map { ($0, observation[$0]) }
        return ScenarioText.line(
            of: Dictionary(uniqueKeysWithValues: values.filter { $0.1 != [] && $0.1 != [:] }))
    }
}

extension ScreenInstance {
    /// The screen with its arguments: `cup(kind: lungo)`.
    package var text: String {
        let arguments = arguments.sorted { $0.key < $1.key }.map { "\($0): \(ScenarioText.text(of: $1))" }
        return arguments.isEmpty ? screen : "\(screen)(\(arguments.joined(separator: ", ")))"
    }
}

/// The short text of expected and actual values.
enum ScenarioText {
    /// The aspects and their values in one line, without those that follow from others.
    static func line(of values: [Scenario.Aspect: JSONValue]) -> String {
        Scenario.Aspect.allCases.filter { !$0.isDerived }.compactMap { aspect in
            values[aspect].map { "\(aspect.rawValue): \(text(of: $0))" }
        }.joined(separator: "; ")
    }

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
