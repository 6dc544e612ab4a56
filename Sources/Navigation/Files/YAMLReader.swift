internal import Yams

/// Turns YAML nodes into Swift values, noting everything that is wrong on the way, and where everything stands.
///
/// A place such as `transitions[2].do[0].screen` names a node by its position in the flow that is read, so that the
/// checks of the finished flow, which know nothing of files, get their lines too.
struct YAMLReader {
    private let file: String
    private(set) var findings: [FlowFinding] = []
    private var marks: [String: Mark] = [:]
    /// The trees of steps, and all screens as often as they are declared: what the finished flow no longer tells.
    var trees: [Flow.Step] = []
    var declared: [Flow.Screen] = []

    init(file: String) {
        self.file = file
    }

    mutating func report(_ message: String, at node: Node) {
        findings.append(
            FlowFinding(source: file, line: node.mark?.line, column: node.mark?.column, message: message)
        )
    }

    private mutating func report(_ finding: FlowFinding) {
        findings.append(finding)
    }

    /// Reports what the checks found, where the place begins or else the nearest one around it.
    mutating func report(_ problem: FlowChecker.Problem) {
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

    private func mark(near place: String) -> Mark? {
        var place = place[...]
        while marks[String(place)] == nil, let end = place.lastIndex(where: { ".[".contains($0) }) {
            place = place[..<end]
        }
        return marks[String(place)]
    }

    /// Notes where a place is in the file.
    mutating func note(_ place: String, at node: Node) {
        marks[place] = node.mark
    }

    /// Notes that a place, with all that stands in it, is also called something else.
    mutating func noteAlso(_ place: String, as known: String) {
        for (key, mark) in marks where key == known || key.hasPrefix("\(known).") {
            marks[place + key.dropFirst(known.count)] = mark
        }
    }

    /// Forgets what was noted within a place: it could not be read, and what is read next takes the place.
    mutating func forget(_ place: String) {
        marks = marks.filter { !$0.key.hasPrefix(place) }
    }

    /// The members of a mapping, all of whose keys must be known and the required ones there.
    ///
    /// - Returns: What is there, so that a reader goes on to find what else is wrong; nil when this is no mapping.
    mutating func members(
        of node: Node,
        _ what: String,
        at place: String,
        required: [String] = [],
        optional: [String] = []
    ) -> [String: Node]? {
        guard case .mapping(let mapping) = node else {
            report("\(what) must be a mapping with \((required + optional).joined(separator: ", "))", at: node)
            return nil
        }
        note(place, at: node)
        var members: [String: Node] = [:]
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
    mutating func string(_ node: Node, _ what: String) -> String? {
        guard case .scalar(let scalar) = node, !scalar.string.isEmpty else {
            report("\(what) must be a string", at: node)
            return nil
        }
        return scalar.string
    }

    /// A list of strings, or one string in place of a list of one.
    mutating func strings(_ node: Node, _ what: String) -> [String]? {
        guard case .sequence(let elements) = node else { return string(node, what).map { [$0] } }
        return elements.compactMap { string($0, what) }
    }

    /// One of an enumeration's cases.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ node: Node,
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
    mutating func choices<Choice: RawRepresentable & CaseIterable>(
        _ node: Node,
        _ what: String,
        of type: Choice.Type
    ) -> [Choice]? where Choice.RawValue == String {
        guard case .sequence(let elements) = node else {
            let known = type.allCases.map(\.rawValue).joined(separator: ", ")
            report("expected a list of \(what)s, such as [\(known)]", at: node)
            return nil
        }
        return elements.compactMap { choice($0, what, of: type) }
    }

    /// A mapping's key when it is a scalar.
    func name(of key: Node) -> String? {
        guard case .scalar(let scalar) = key else { return nil }
        return scalar.string
    }

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

    /// What a text holds; nil, with a finding, when that is nothing or no YAML.
    mutating func document(_ yaml: String, _ advice: String) -> Node? {
        do {
            if let document = try compose(yaml: yaml) { return document }
            report(FlowFinding(source: file, line: 1, column: 1, message: "the file is empty; \(advice)"))
        } catch {
            report(FlowFinding(yamlError: error, file: file))
        }
        return nil
    }
}

extension FlowFinding {
    /// What Yams says about text that is no YAML.
    fileprivate init(yamlError error: any Error, file: String) {
        let advice = "check its indentation, quotes and brackets"
        switch error {
        case YamlError.scanner(_, let problem, let mark, _),
            YamlError.parser(_, let problem, let mark, _),
            YamlError.composer(_, let problem, let mark, _):
            self.init(
                source: file,
                line: mark.line,
                column: mark.column,
                message: "malformed YAML: \(problem); \(advice)"
            )
        case YamlError.duplicatedKeysInMapping(let duplicates, let context):
            let keys = duplicates.map { "'\($0)'" }.joined(separator: ", ")
            self.init(
                source: file,
                line: context.mark.line,
                column: context.mark.column,
                message: "\(keys) stands twice in one mapping; remove one"
            )
        case YamlError.reader(let problem, let offset, _, let yaml):
            let before = offset.map { yaml.prefix($0) }
            self.init(
                source: file,
                line: before.map { $0.count(where: \.isNewline) + 1 },
                column: before.map { $0.reversed().prefix { !$0.isNewline }.count + 1 },
                message: "malformed YAML: \(problem); save the file as UTF-8"
            )
        default:
            self.init(source: file, line: 1, column: 1, message: "malformed YAML; \(advice)")
        }
    }
}
