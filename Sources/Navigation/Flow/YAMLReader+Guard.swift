internal import Yams

extension YAMLReader {
    mutating func condition(_ node: Node, at place: String) -> Flow.Guard {
        let members = members(
            of: node,
            "a guard",
            at: place,
            required: ["accept", "deadline"],
            optional: ["ask", "reject", "meanwhile", "rejected", "expired"]
        )
        // What is missing has been reported: what stands in for it must give the checks nothing more to say.
        return Flow.Guard(
            ask: members?["ask"].flatMap { ask($0, at: "\(place).ask") },
            accept: members?["accept"].flatMap { answer($0, at: "\(place).accept") } ?? "event.Unread",
            reject: members?["reject"].flatMap { answer($0, at: "\(place).reject") },
            deadline: members?["deadline"].flatMap { duration($0, "a guard's deadline") } ?? .seconds(1),
            meanwhile: members?["meanwhile"].flatMap { choice($0, "policy", of: Flow.Guard.Meanwhile.self) } ?? .drop,
            rejected: members?["rejected"].map { outcome($0, "rejected", at: "\(place).rejected") } ?? [],
            expired: members?["expired"].map { outcome($0, "expired", at: "\(place).expired") } ?? []
        )
    }

    private mutating func ask(_ node: Node, at place: String) -> Flow.Guard.Ask? {
        if case .scalar(let scalar) = node, !scalar.string.isEmpty { return Flow.Guard.Ask(scalar.string) }
        let members = members(of: node, "'ask'", at: place, required: ["type"], optional: ["data"])
        guard let members, let type = members["type"].flatMap({ string($0, "a command's type") }) else { return nil }
        return Flow.Guard.Ask(type, data: .object(members["data"].map { object($0) } ?? [:]))
    }

    private mutating func answer(_ node: Node, at place: String) -> Flow.Guard.Answer? {
        if case .scalar(let scalar) = node, !scalar.string.isEmpty { return Flow.Guard.Answer(scalar.string) }
        let members = members(of: node, "an answer", at: place, required: ["on"], optional: ["where"])
        guard let members, let on = members["on"].flatMap({ string($0, "a message's type") }) else { return nil }
        return Flow.Guard.Answer(on, where: members["where"].map { fields($0, at: "\(place).where") } ?? [:])
    }

    private mutating func outcome(_ node: Node, _ what: String, at place: String) -> [Flow.Action] {
        guard case .sequence = node else {
            report("'\(what)' must be a list of actions, each beginning with '- '", at: node)
            return []
        }
        return actions(node, at: place) ?? []
    }
}
