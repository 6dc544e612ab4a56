internal import Yams

extension Flow {
    /// The message with which a view asks for an action.
    static let requestType = "command.NavigationRequested"

    /// Reads an action that a view asks for: what a rule's `do` may list, as JSON.
    ///
    /// - Throws: ``NavigationFailure`` that says what is wrong with it, or that the flow does not allow it.
    func requestedAction(_ json: JSONValue) throws(NavigationFailure) -> Action {
        var reader = YAMLReader(file: "request")
        let action = reader.action(Node(json), at: "action")
        guard let action, reader.findings.isEmpty else { throw .unreadable(reader.findings.map(\.message)) }
        guard requests.contains(action.name) else { throw .notRequestable(action.name, among: requests) }
        var checker = FlowChecker(flow: self, isRequest: true)
        checker.check(action, at: "action")
        guard checker.problems.isEmpty else { throw .unreadable(checker.problems.map(\.message)) }
        return action
    }
}

extension Node {
    /// A node that reads as this value. Strings are quoted: `"5"` is no number, and `"null"` a word.
    fileprivate init(_ json: JSONValue) {
        switch json {
        case .string(let text): self = .scalar(Scalar(text, Tag(.str), .doubleQuoted))
        case .null, .bool, .integer, .number: self = .scalar(Scalar(json.description, Tag(.implicit), .plain))
        case .array(let elements): self = .sequence(Sequence(elements.map { Node($0) }))
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            self = .mapping(Mapping(sorted.map { (Node(.string($0.key)), Node($0.value)) }))
        }
    }
}
