extension Flow.Guard {
    var json: JSONValue {
        .object(
            members: question + [
                ("deadline", .string(deadline.text)),
                ("meanwhile", meanwhile == .drop ? nil : .string(meanwhile.rawValue)),
                ("rejected", rejected.isEmpty ? nil : .array(rejected.map(\.json))),
                ("expired", expired.isEmpty ? nil : .array(expired.map(\.json))),
            ])
    }

    /// What it asks and who answers, without what comes of that.
    private var question: [(String, JSONValue?)] {
        [("ask", ask?.json), ("accept", accept.json), ("reject", reject?.json)]
    }

    /// A name for the rule that asks this. Snapshots use it, so it is the same in every process, and outlives changes to
    /// all else of the flow, even to what the rule does: only another occasion or question makes it another rule.
    func name(ofRule rule: JSONValue) -> String {
        var occasion = rule.objectValue ?? [:]
        occasion["do"] = nil
        occasion["guard"] = .object(members: question)
        var hash = FNV1a()
        hash.combine(JSONValue.object(occasion).description)
        return hash.hexadecimal
    }
}

extension Flow.Guard.Ask {
    fileprivate var json: JSONValue {
        .object(members: [("type", .string(type)), ("data", data == [:] ? nil : data)])
    }
}

extension Flow.Guard.Answer {
    fileprivate var json: JSONValue {
        .object(members: [("on", .string(on)), ("where", fields.isEmpty ? nil : .object(fields.mapValues(\.json)))])
    }
}
