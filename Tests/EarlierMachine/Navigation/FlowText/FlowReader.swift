package import Support

/// Converts the nodes of a file to Swift values, and collects findings and positions.
///
/// A place such as `transitions[2].do[0].screen` refers to a node by its position in the flow. The checks of a flow
/// report key paths, which the reader converts to lines.
package struct FlowReader {
    package let file: String
    package private(set) var findings: [FlowFinding] = []
    /// The old forms of the language that the file uses, in the order of reading.
    package private(set) var oldForms: [OldForm] = []
    private var marks: [String: FlowNode.Mark] = [:]
    /// For each place that shares the positions of a known place, the known place.
    private var aliases: [String: String] = [:]

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

    /// Reports a problem that the checks found, with the position of its place or of the nearest enclosing place.
    package mutating func report(_ problem: FlowChecker.Problem) {
        let mark = mark(near: problem.keyPath)
        findings.append(
            FlowFinding(
                source: file,
                line: mark?.line,
                column: mark?.column,
                severity: problem.severity,
                code: problem.code,
                message: problem.message { keyPath in self.mark(near: keyPath).map { "line \($0.line)" } ?? keyPath }
            )
        )
    }

    mutating func record(_ form: OldForm) {
        oldForms.append(form)
    }

    private func mark(near keyPath: String) -> FlowNode.Mark? {
        var end = keyPath.endIndex
        while true {
            let part = String(keyPath[..<end])
            if let mark = marks[part] { return mark }
            if let known = aliases[part] { return mark(near: known + keyPath[end...]) }
            guard let last = part.unicodeScalars.lastIndex(where: { ".[".unicodeScalars.contains($0) }) else {
                return nil
            }
            end = last
        }
    }

    /// Records the position of a key path.
    package mutating func record(_ keyPath: String, at node: FlowNode) {
        marks[keyPath] = node.mark
    }

    /// Records that a key path shares the positions of a known place, including everything within it.
    package mutating func recordAlias(_ keyPath: String, of known: String) {
        aliases[keyPath] = known
    }

    /// Removes the positions of a key path and of everything within it.
    package mutating func forget(_ keyPath: String) {
        marks = marks.filter { !$0.key.begins(with: keyPath) }
    }

    /// Returns the members of a mapping, and reports unknown and missing keys.
    ///
    /// - Returns: The known members that are present. Nil if the node is not a mapping.
    package mutating func members(
        of node: FlowNode,
        _ what: String,
        at keyPath: String,
        required: [String] = [],
        optional: [String] = []
    ) -> [String: FlowNode]? {
        guard case .mapping(let mapping) = node.content else {
            report("\(what) must be a mapping with the keys \((required + optional).joined(separator: ", "))", at: node)
            return nil
        }
        record(keyPath, at: node)
        var members: [String: FlowNode] = [:]
        for (key, value) in mapping {
            guard let name = name(of: key), (required + optional).contains(name) else {
                let word = name(of: key) ?? ""
                let advice = Spelling.advice(for: word, among: required + optional)
                report("unknown key '\(word)' in \(what); \(advice)", at: key)
                continue
            }
            members[name] = value
            record(keyPath.isEmpty ? name : "\(keyPath).\(name)", at: key)
        }
        for name in required where members[name] == nil { report("\(what) lacks '\(name)'; add it", at: node) }
        return members
    }

    /// Reads a scalar as text. Nil, with a finding, if the node is not a scalar or is empty.
    package mutating func string(_ node: FlowNode, _ what: String) -> String? {
        guard case .scalar(let scalar) = node.content, !scalar.text.isEmpty else {
            report("\(what) must be a string that is not empty", at: node)
            return nil
        }
        return scalar.text
    }

    /// Reads a list of strings. A single string counts as a list with one element. Nil, with a finding, if the node is
    /// neither.
    package mutating func strings(_ node: FlowNode, _ what: String) -> [String]? {
        guard case .sequence(let elements) = node.content else { return string(node, what).map { [$0] } }
        return elements.compactMap { string($0, what) }
    }

    /// Reads a case of an enumeration. Nil, with a finding, if there is no such case.
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

    /// Reads a list of cases of an enumeration. Unknown cases are reported and left out. Nil, with a finding, if the
    /// node is not a list.
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

    /// The text of a mapping's key. Nil if the key is not a scalar.
    package func name(of key: FlowNode) -> String? {
        guard case .scalar(let scalar) = key.content else { return nil }
        return scalar.text
    }

    package mutating func value(_ node: FlowNode) -> JSONValue {
        switch node.content {
        case .scalar(let scalar): return scalar.value
        case .sequence(let elements): return .array(elements.map { value($0) })
        case .mapping: return .object(object(node))
        case .alias:
            report("a YAML alias cannot be used here; write the value itself", at: node)
            return .null
        }
    }

    /// Reads a mapping of arbitrary keys to JSON values. Empty, with a finding, if the node is not a mapping.
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
        // `1.0` in a file is refused.
        let integer: Int? = scalar(node, "\(what) must be a whole number") { value in
            if case .integer(let integer) = value { integer } else { nil }
        }
        guard let integer, !SafeIntegers.range.contains(Int64(integer)) else { return integer }
        report("\(what) is not between \(-SafeIntegers.greatest) and \(SafeIntegers.greatest)", at: node)
        return nil
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
        report("'\(text)' is not a duration; write a whole number and a unit: 500ms, 5s, 2m, 1h, 7d", at: node)
        return nil
    }
}
