internal import Yams

extension Scenario {
    /// Reads a scenario from YAML.
    ///
    /// - Parameters:
    ///   - yaml: The text of the file.
    ///   - file: The name of the file as findings and outcomes shall call it.
    ///   - flow: The flow that it is for, whose screens it names.
    /// - Throws: ``FlowError`` with everything that is wrong, each finding with its line and column.
    public init(yaml: String, file: String, flow: Flow) throws(FlowError) {
        var reader = YAMLReader(file: file)
        let document = reader.document(yaml, "describe a scenario in it")
        steps = document.map { reader.steps($0, flow) } ?? []
        self.file = file
        guard reader.findings.isEmpty else { throw FlowError(findings: reader.findings) }
    }
}

extension YAMLReader {
    fileprivate mutating func steps(_ node: Node, _ flow: Flow) -> [Scenario.Step] {
        guard case .sequence(let elements) = node else {
            report("a scenario must be a list of steps, each beginning with '- send: TYPE' or the like", at: node)
            return []
        }
        return elements.compactMap { step($0, flow) }
    }

    private mutating func step(_ node: Node, _ flow: Flow) -> Scenario.Step? {
        let words = Scenario.Act.Word.allCases
        let known = words.map(\.rawValue)
        if case .scalar(let scalar) = node {
            if let act = Scenario.Act.Word(rawValue: scalar.string)?.bare {
                return Scenario.Step(position: position(of: node), act: act, expectation: nil)
            }
            let needsMore = known.contains(scalar.string)
            report(
                needsMore
                    ? "step '\(scalar.string)' needs to be told what; write '\(scalar.string): …'"
                    : "unknown step '\(scalar.string)'; \(Spelling.advice(for: scalar.string, among: known))", at: node)
            return nil
        }
        guard let members = members(of: node, "a step", at: "", optional: known + ["expect"]) else { return nil }
        let acts = words.compactMap { word in members[word.rawValue].map { (word, $0) } }
        guard acts.count == 1 else {
            report("a step is one of \(known.joined(separator: ", ")); write each beneath a '-' of its own", at: node)
            return nil
        }
        let expectation = members["expect"].flatMap { self.expectation($0, position(of: "expect", in: node), flow) }
        guard let act = self.act(acts[0].0, acts[0].1, flow) else { return nil }
        return Scenario.Step(position: position(of: node), act: act, expectation: expectation)
    }

    private mutating func act(_ word: Scenario.Act.Word, _ node: Node, _ flow: Flow) -> Scenario.Act? {
        if let bare = word.bare, isEmpty(node) { return bare }
        switch word {
        case .send: return message(node, flow).map { .send($0) }
        case .back: return reference(node, flow).map { .back($0) }
        case .dismiss: return reference(node, flow).map { .dismiss($0) }
        case .gone: return reference(node, flow).map { .gone($0) }
        case .answer: return string(node, "the button that is pressed").map { .answer($0) }
        case .tab: return string(node, "the tab that is selected").map { .tab($0) }
        case .expire:
            report("'expire' takes nothing; remove what follows it", at: node)
            return nil
        }
    }

    private mutating func message(_ node: Node, _ flow: Flow) -> Scenario.Message? {
        if case .scalar = node { return messageType(node).map { Scenario.Message(type: $0) } }
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

    mutating func messageType(_ node: Node) -> String? {
        guard let type = string(node, "a message's type") else { return nil }
        if FlowChecker.isType(type, ofKinds: ["command", "event", "error", "document"]) { return type }
        report("'\(type)' is not the type of a message; write command.NAME or event.NAME", at: node)
        return nil
    }

    /// A screen, or an instance such as `item-4`.
    mutating func reference(_ node: Node, _ flow: Flow) -> String? {
        guard let name = string(node, "a screen or an instance") else { return nil }
        if flow.screens[name] != nil { return name }
        if let dash = name.lastIndex(of: "-"), Int(name[name.index(after: dash)...]) != nil,
            flow.screens[String(name[..<dash])] != nil
        {
            return name
        }
        report("unknown screen '\(name)'; \(Spelling.advice(for: name, among: flow.screens.keys))", at: node)
        return nil
    }

    func isEmpty(_ node: Node) -> Bool {
        if case .scalar(let scalar) = node { scalar.string.isEmpty } else { false }
    }

    private func position(of key: String, in node: Node) -> Scenario.Position {
        position(of: node.mapping?.first { name(of: $0.key) == key }?.key ?? node)
    }

    func position(of node: Node) -> Scenario.Position {
        Scenario.Position(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }
}
