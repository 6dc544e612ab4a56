internal import Navigation
internal import Support

// Scenarios as text, as their files have them.
extension Scenario.Act {
    /// The act as YAML on one line.
    package var line: String {
        switch self {
        case .send(let message): "\(word.rawValue): \(message.line)"
        case .back(let name), .dismiss(let name), .gone(let name):
            "\(word.rawValue)\(name.map { ": \(Self.scalar($0))" } ?? "")"
        case .answer(let name), .tab(let name): "\(word.rawValue): \(Self.scalar(name))"
        case .expire, .restart, .begin: word.rawValue
        }
    }

    private var word: Word {
        switch self {
        case .begin: .begin
        case .send: .send
        case .back: .back
        case .dismiss: .dismiss
        case .answer: .answer
        case .tab: .tab
        case .gone: .gone
        case .expire: .expire
        case .restart: .restart
        }
    }

    /// A string as YAML. A name that YAML could read as something else is written as JSON.
    fileprivate static func scalar(_ text: String) -> String {
        let words = ["", "true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        let isPlain =
            text.unicodeScalars.first?.isASCIILetter == true && !words.contains(text.lowercased())
            && text.unicodeScalars.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || "._-".unicodeScalars.contains($0)
            }
        return isPlain ? text : JSONValue.string(text).description
    }
}

extension Scenario.Message {
    fileprivate var line: String {
        var members = ["type: \(Scenario.Act.scalar(type))"]
        if data != [:] { members.append("data: \(data)") }
        for (key, value) in [("from", from), ("platform", platform), ("causedBy", causedBy), ("at", at?.text)] {
            if let value { members.append("\(key): \(Scenario.Act.scalar(value))") }
        }
        return members.count == 1 ? Scenario.Act.scalar(type) : "{ \(members.joined(separator: ", ")) }"
    }
}

extension Scenario.Outcome {
    /// What a scenario writes after `expect:` so that exactly these changes are expected.
    package var expectation: String {
        let stated = changes.filter { !$0.key.isDerived }.sorted { $0.key.rawValue < $1.key.rawValue }
        let members = stated.map { aspect, value in "\(aspect.rawValue): \(aspect.expected(value).description)" }
        return members.isEmpty ? "{}" : "{ \(members.joined(separator: ", ")) }"
    }
}

extension Scenario.Aspect {
    /// A value of the aspect as a scenario writes it: without the ids that differ from one session to the next.
    fileprivate func expected(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): .array(elements.map(expected))
        case .object(let members) where isNamed && members["screen"] == nil: .object(members.mapValues(expected))
        case .object(let members): expected(members)
        default: value
        }
    }

    private func expected(_ members: [String: JSONValue]) -> JSONValue {
        switch self {
        case .attempt, .queue: members["type"] ?? .object(members)
        case .runs: members["flow"] ?? .object(members)
        case .discarded, .failed: members["reason"] ?? .object(members)
        case .sent: .object(members.filter { $0.key != "id" })
        default:
            .object(
                members.filter { $0.key != "instance" }
                    .merging(members["path"].map { ["path": Scenario.Aspect.path.expected($0)] } ?? [:]) { $1 })
        }
    }
}
