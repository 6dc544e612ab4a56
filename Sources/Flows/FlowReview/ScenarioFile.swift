internal import FlowFiles
package import Navigation
internal import Support

extension Scenario {
    /// Reads a scenario from YAML.
    ///
    /// - Parameters:
    ///   - yaml: The contents of the file.
    ///   - file: The name of the file in findings and outcomes.
    ///   - flow: The flow that the scenario tests.
    /// - Throws: ``FlowError`` with the findings, if there are any.
    package init(yaml: String, file: String, flow: Flow) throws(FlowError) {
        var reader = FlowReader(file: file)
        if let finding = Self.expectationWithoutColon(in: yaml, file: file) { throw FlowError(findings: [finding]) }
        let document = reader.document(yaml, "describe a scenario in it")
        steps = document.map { reader.steps($0, flow) } ?? []
        self.file = file
        guard reader.findings.isEmpty else { throw FlowError(findings: reader.findings) }
    }

    /// Finds a step without a value or a colon, such as `- dismiss`, that is followed by the line of its `expect`.
    private static func expectationWithoutColon(in yaml: String, file: String) -> FlowFinding? {
        let bare = Act.Word.allCases.filter { $0.bare != nil }.map { "- \($0.rawValue)" }
        let lines = yaml.lines.enumerated().map {
            (number: $0 + 1, indent: $1.unicodeScalars.prefix { $0 == " " }.count, text: text(ofLine: $1))
        }
        let written = lines.filter { !$0.text.isEmpty }
        for (step, next) in zip(written, written.dropFirst())
        where bare.contains(step.text) && next.indent > step.indent {
            let words = Expectation.Word.allCases.map(\.rawValue)
            guard let key = words.first(where: { next.text.begins(with: "\($0):") }) else { continue }
            let word = step.text.dropFirst(2)
            return FlowFinding(
                source: file, line: step.number, column: step.indent + 3,
                message: "step '\(word)' needs a colon, because '\(key)' follows; write '- \(word):'")
        }
        return nil
    }

    /// A line without its indentation and its comment.
    private static func text(ofLine line: Substring) -> String {
        let text = line.trimmed
        if text.unicodeScalars.first == "#" { return "" }
        return String((text.cut(at: " #")?.before ?? text).trimmed)
    }
}

extension FlowReader {
    fileprivate mutating func steps(_ node: FlowNode, _ flow: Flow) -> [Scenario.Step] {
        guard case .sequence(let elements) = node.content else {
            report("a scenario must be a list of steps, such as '- send: TYPE'", at: node)
            return []
        }
        return elements.compactMap { step($0, flow) }
    }

    private mutating func step(_ node: FlowNode, _ flow: Flow) -> Scenario.Step? {
        let words = Scenario.Act.Word.allCases
        let known = words.map(\.rawValue)
        if case .scalar(let scalar) = node.content {
            if let act = Scenario.Act.Word(rawValue: scalar.text)?.bare {
                return Scenario.Step(position: position(of: node), act: act, expectation: nil)
            }
            let needsMore = known.contains(scalar.text)
            report(
                needsMore
                    ? "step '\(scalar.text)' needs a value; write '\(scalar.text): …'"
                    : "unknown step '\(scalar.text)'; \(Spelling.advice(for: scalar.text, among: known))", at: node)
            return nil
        }
        let expectations = Scenario.Expectation.Word.allCases
        let optional = known + expectations.map(\.rawValue)
        guard let members = members(of: node, "a step", at: "", optional: optional) else { return nil }
        let acts = words.compactMap { word in members[word.rawValue].map { (word, $0) } }
        guard acts.count == 1 else {
            report(
                "a step must have exactly one of \(known.joined(separator: ", ")); write each step after its own '-'",
                at: node)
            return nil
        }
        let stated = expectations.filter { members[$0.rawValue] != nil }
        if stated.count > 1 { report("a step takes either 'expect' or 'includes'; remove one", at: node) }
        let expectation = stated.first.flatMap { word in
            members[word.rawValue].flatMap {
                self.expectation($0, word, of: position(of: word.rawValue, in: node), in: flow)
            }
        }
        guard let act = self.act(acts[0].0, at: acts[0].1, in: flow) else { return nil }
        return Scenario.Step(position: position(of: node), act: act, expectation: expectation)
    }

    private mutating func act(_ word: Scenario.Act.Word, at node: FlowNode, in flow: Flow) -> Scenario.Act? {
        if let bare = word.bare, isEmpty(node) { return bare }
        switch word {
        case .begin: return target(node, of: flow).map { .begin($0) }
        case .send: return message(node, flow).map { .send($0) }
        case .back: return reference(node, flow).map { .back($0) }
        case .dismiss: return reference(node, flow).map { .dismiss($0) }
        case .gone: return reference(node, flow).map { .gone($0) }
        case .answer: return string(node, "the button that is pressed").map { .answer($0) }
        case .tab: return string(node, "the tab that is selected").map { .tab($0) }
        case .expire, .restart:
            report("'\(word.rawValue)' takes no value; remove the value", at: node)
            return nil
        }
    }

    private mutating func target(_ node: FlowNode, of flow: Flow) -> Flow.Link.Target? {
        guard let target = target(node, "begin", at: "begin") else { return nil }
        var checker = FlowChecker(flow: flow)
        checker.check(state: target, "begin", at: "begin")
        for problem in checker.problems { report(problem) }
        return checker.problems.isEmpty ? target : nil
    }

    private mutating func message(_ node: FlowNode, _ flow: Flow) -> Scenario.Message? {
        if case .scalar = node.content { return messageType(node).map { Scenario.Message(type: $0) } }
        let optional = ["data", "from", "platform", "causedBy", "at"]
        let members = members(of: node, "'send'", at: "", required: ["type"], optional: optional)
        guard let members, let type = members["type"].flatMap({ messageType($0) }) else { return nil }
        return Scenario.Message(
            type: type,
            data: .object(members["data"].map { object($0) } ?? [:]),
            from: members["from"].flatMap { reference($0, flow) },
            platform: members["platform"].flatMap { string($0, "a platform") },
            causedBy: members["causedBy"].flatMap { string($0, "the message that it answers") },
            at: members["at"].flatMap { duration($0, "the time since the beginning") }
        )
    }

    mutating func messageType(_ node: FlowNode) -> String? {
        guard let type = string(node, "a message's type") else { return nil }
        if FlowChecker.isType(type, ofKinds: ["command", "event", "error", "document"]) { return type }
        report("'\(type)' is not the type of a message; write command.NAME or event.NAME", at: node)
        return nil
    }

    /// Reads a screen name or an instance id such as `item-4`. Nil, with a finding, if the flow has no such screen.
    mutating func reference(_ node: FlowNode, _ flow: Flow) -> String? {
        guard let name = string(node, "a screen or an instance") else { return nil }
        if flow.screens[name] != nil { return name }
        if let (screen, number) = name.cut(atLast: "-"), Int(number) != nil, flow.screens[String(screen)] != nil {
            return name
        }
        report("unknown screen '\(name)'; \(Spelling.advice(for: name, among: flow.screens.keys))", at: node)
        return nil
    }

    func isEmpty(_ node: FlowNode) -> Bool {
        if case .scalar(let scalar) = node.content { scalar.text.isEmpty } else { false }
    }

    private func isQuoted(_ node: FlowNode) -> Bool {
        if case .scalar(let scalar) = node.content { scalar.value == "" } else { false }
    }

    private func position(of key: String, in node: FlowNode) -> Scenario.Position {
        position(of: node.mapping?.first { name(of: $0.key) == key }?.key ?? node)
    }

    func position(of node: FlowNode) -> Scenario.Position {
        Scenario.Position(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }

    /// Reads the expected changes of a step; `expect: {}` means no changes. Nil, with a finding, if the node is neither
    /// a mapping nor empty.
    mutating func expectation(
        _ node: FlowNode, _ word: Scenario.Expectation.Word = .expect, of position: Scenario.Position, in flow: Flow
    ) -> Scenario.Expectation? {
        if isEmpty(node) { return Scenario.Expectation(position: position, word: word, stated: [:]) }
        guard case .mapping(let mapping) = node.content else {
            report("'\(word.rawValue)' must be a mapping from aspects to values, such as { root: SCREEN }", at: node)
            return nil
        }
        var stated: [Scenario.Aspect: Scenario.Stated] = [:]
        for (key, value) in mapping {
            let name = name(of: key) ?? ""
            guard let aspect = Scenario.Aspect(rawValue: name) else {
                let advice = Spelling.advice(for: name, among: Scenario.Aspect.allCases.map(\.rawValue))
                report("unknown key '\(name)' in '\(word.rawValue)'; \(advice)", at: key)
                continue
            }
            let expected = expected(value, of: aspect, in: flow)
            stated[aspect] = Scenario.Stated(position: self.position(of: key), value: expected)
        }
        return Scenario.Expectation(position: position, word: word, stated: stated)
    }

    private mutating func expected(_ node: FlowNode, of aspect: Scenario.Aspect, in flow: Flow) -> JSONValue {
        guard aspect.isNamed else { return list(node, of: aspect, in: flow) }
        if isEmpty(node) { return [:] }
        guard case .mapping(let mapping) = node.content else {
            report("'\(aspect.rawValue)' must be a mapping from names to screens", at: node)
            return [:]
        }
        let members = mapping.map { key, node in (name(of: key) ?? "", list(node, of: aspect, in: flow)) }
        return .object(Dictionary(members) { first, _ in first })
    }

    /// Reads a list, or a single element in place of a list.
    private mutating func list(_ node: FlowNode, of aspect: Scenario.Aspect, in flow: Flow) -> JSONValue {
        // An empty string in quotes is a part of every reason.
        let isAnyReason = [.discarded, .failed].contains(aspect) && isQuoted(node)
        if isEmpty(node), !isAnyReason { return [] }
        let nodes: [FlowNode] = if case .sequence(let elements) = node.content { elements } else { [node] }
        return .array(nodes.compactMap { element($0, of: aspect, in: flow) })
    }

    private mutating func element(_ node: FlowNode, of aspect: Scenario.Aspect, in flow: Flow) -> JSONValue? {
        switch aspect {
        case .root: return screen(node, of: aspect, or: ["container"], in: flow)
        case .presented: return screen(node, of: aspect, or: ["style", "title", "message", "path"], in: flow)
        case .top, .path, .columns, .tabs, .leaving, .dismissed: return screen(node, of: aspect, or: [], in: flow)
        case .sent: return sent(node)
        case .waits: return duration(node, "the value of 'waits'").map { .string($0.text) }
        case .attempt, .queue, .commands: return messageType(node).map { .string($0) }
        case .discarded, .failed:
            return isQuoted(node) ? "" : string(node, "the value of '\(aspect.rawValue)'").map { .string($0) }
        case .tab, .runs, .parked, .opened:
            return string(node, "the value of '\(aspect.rawValue)'").map { .string($0) }
        }
    }

    private mutating func screen(
        _ node: FlowNode, of aspect: Scenario.Aspect, or more: [String], in flow: Flow
    ) -> JSONValue? {
        if case .scalar = node.content { return reference(node, flow).map { .string($0) } }
        let optional = ["arguments"] + more
        let members = members(
            of: node, "the value of '\(aspect.rawValue)'", at: "", required: ["screen"], optional: optional)
        guard let members, let screen = members["screen"].flatMap({ reference($0, flow) }) else { return nil }
        var expected: [String: JSONValue] = ["screen": .string(screen)]
        for (name, node) in members where name != "screen" {
            expected[name] =
                switch name {
                case "arguments": .object(object(node))
                case "path": list(node, of: .path, in: flow)
                default: string(node, name).map { .string($0) }
                }
        }
        return .object(expected)
    }

    private mutating func sent(_ node: FlowNode) -> JSONValue? {
        if case .scalar = node.content { return messageType(node).map { .string($0) } }
        let members = members(of: node, "an element of 'sent'", at: "", required: ["type"], optional: ["data"])
        guard let members, let type = members["type"].flatMap({ messageType($0) }) else { return nil }
        return .object(members: [("type", .string(type)), ("data", members["data"].map { .object(object($0)) })])
    }
}
