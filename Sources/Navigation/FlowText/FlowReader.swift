package import Support

/// Turns a document's nodes into Swift values, and notes everything that is wrong and where everything is.
///
/// A place such as `transitions[2].do[0].screen` names a node by its position in the flow that is read, so that the
/// checks of the finished flow, which know nothing of files, get their lines too.
package struct FlowReader {
    package let file: String
    package private(set) var findings: [FlowFinding] = []
    private var marks: [String: FlowNode.Mark] = [:]

    package init(file: String) {
        self.file = file
    }

    package mutating func report(_ message: String, at node: FlowNode) {
        findings.append(
            FlowFinding(source: file, line: node.mark?.line, column: node.mark?.column, message: message)
        )
    }

    package mutating func report(_ finding: FlowFinding) {
        findings.append(finding)
    }

    /// Reports what the checks found, where the place begins or else the nearest one around it.
    package mutating func report(_ problem: FlowChecker.Problem) {
        let mark = mark(near: problem.place)
        findings.append(
            FlowFinding(
                source: file,
                line: mark?.line,
                column: mark?.column,
                severity: problem.severity,
                message: problem.message { place in self.mark(near: place).map { "line \($0.line)" } ?? place }
            )
        )
    }

    private func mark(near place: String) -> FlowNode.Mark? {
        var place = place[...]
        while marks[String(place)] == nil, let end = place.lastIndex(where: { ".[".contains($0) }) {
            place = place[..<end]
        }
        return marks[String(place)]
    }

    /// Notes where a place is in the file.
    package mutating func note(_ place: String, at node: FlowNode) {
        marks[place] = node.mark
    }

    /// Notes that a place, with all that stands in it, is also called something else.
    package mutating func noteAlso(_ place: String, as known: String) {
        for (key, mark) in marks where key == known || key.hasPrefix("\(known).") {
            marks[place + key.dropFirst(known.count)] = mark
        }
    }

    /// Forgets what was noted within a place: it could not be read, and what is read next takes the place.
    package mutating func forget(_ place: String) {
        marks = marks.filter { !$0.key.hasPrefix(place) }
    }

    /// The members of a mapping, all of whose keys must be known and the required ones there.
    ///
    /// - Returns: What is there, so that a reader goes on to find what else is wrong; nil when this is no mapping.
    package mutating func members(
        of node: FlowNode,
        _ what: String,
        at place: String,
        required: [String] = [],
        optional: [String] = []
    ) -> [String: FlowNode]? {
        guard case .mapping(let mapping) = node.content else {
            report("\(what) must be a mapping with \((required + optional).joined(separator: ", "))", at: node)
            return nil
        }
        note(place, at: node)
        var members: [String: FlowNode] = [:]
        for (key, value) in mapping {
            guard let name = name(of: key), (required + optional).contains(name) else {
                let word = name(of: key) ?? ""
                let advice = Spelling.advice(for: word, among: required + optional)
                report("unknown key '\(word)' in \(what); \(advice)", at: key)
                continue
            }
            members[name] = value
            note(place.isEmpty ? name : "\(place).\(name)", at: key)
        }
        for name in required where members[name] == nil { report("\(what) lacks '\(name)'; add it", at: node) }
        return members
    }

    /// A scalar's text, as it is written.
    package mutating func string(_ node: FlowNode, _ what: String) -> String? {
        guard case .scalar(let scalar) = node.content, !scalar.text.isEmpty else {
            report("\(what) must be a string", at: node)
            return nil
        }
        return scalar.text
    }

    /// A list of strings, or one string in place of a list of one.
    package mutating func strings(_ node: FlowNode, _ what: String) -> [String]? {
        guard case .sequence(let elements) = node.content else { return string(node, what).map { [$0] } }
        return elements.compactMap { string($0, what) }
    }

    /// One of an enumeration's cases.
    package mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ node: FlowNode,
        _ what: String,
        of type: Choice.Type
    ) -> Choice? where Choice.RawValue == String {
        guard let word = string(node, what) else { return nil }
        if let choice = Choice(rawValue: word) { return choice }
        let advice = Spelling.advice(for: word, among: type.allCases.map(\.rawValue))
        report("unknown \(what) '\(word)'; \(advice)", at: node)
        return nil
    }

    /// A list of an enumeration's cases.
    package mutating func choices<Choice: RawRepresentable & CaseIterable>(
        _ node: FlowNode,
        _ what: String,
        of type: Choice.Type
    ) -> [Choice]? where Choice.RawValue == String {
        guard case .sequence(let elements) = node.content else {
            let known = type.allCases.map(\.rawValue).joined(separator: ", ")
            report("expected a list of \(what)s, such as [\(known)]", at: node)
            return nil
        }
        return elements.compactMap { choice($0, what, of: type) }
    }

    /// A mapping's key when it is a scalar.
    package func name(of key: FlowNode) -> String? {
        guard case .scalar(let scalar) = key.content else { return nil }
        return scalar.text
    }

    /// Any JSON value.
    package mutating func value(_ node: FlowNode) -> JSONValue {
        switch node.content {
        case .scalar(let scalar): return scalar.value
        case .sequence(let elements): return .array(elements.map { value($0) })
        case .mapping: return .object(object(node))
        case .alias:
            report("an alias cannot stand here; write the value out", at: node)
            return .null
        }
    }

    /// A mapping of any keys to JSON values.
    package mutating func object(_ node: FlowNode) -> [String: JSONValue] {
        guard case .mapping(let mapping) = node.content else {
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

    package mutating func bool(_ node: FlowNode, _ what: String) -> Bool? {
        scalar(node, "\(what) must be true or false", \.boolValue)
    }

    package mutating func number(_ node: FlowNode, _ what: String) -> Double? {
        scalar(node, "\(what) must be a number", \.numberValue)
    }

    package mutating func integer(_ node: FlowNode, _ what: String) -> Int? {
        // 1.0 is one in a message, but nothing that a person counts with.
        scalar(node, "\(what) must be a whole number") { value in
            if case .integer(let integer) = value { integer } else { nil }
        }
    }

    private mutating func scalar<Value>(
        _ node: FlowNode, _ complaint: String, _ read: (JSONValue) -> Value?
    ) -> Value? {
        guard case .scalar(let scalar) = node.content, let value = read(scalar.value) else {
            report(complaint, at: node)
            return nil
        }
        return value
    }

    package mutating func duration(_ node: FlowNode, _ what: String) -> Duration? {
        guard let text = string(node, what) else { return nil }
        if let duration = Duration(text: text) { return duration }
        report("'\(text)' is no duration; write a whole number and ms, s, m, h or d, such as 5s", at: node)
        return nil
    }
}
