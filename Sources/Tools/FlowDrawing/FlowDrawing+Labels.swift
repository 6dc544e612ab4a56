internal import FlowReview
internal import Navigation
internal import Support

extension Flow {
    /// The lines of an arrow's label: the message or deep link, the conditions, and the action.
    func lines(of edge: FlowGraph.Edge) -> [String] {
        if let link = link(of: edge) {
            let conditions = edge.rule.isOtherwise ? ["otherwise"] : Self.lines(of: link.when, link.unless, edge)
            return [link.url] + conditions.map { "[\($0)]" } + [edge.text]
        }
        guard let rule = rule(of: edge) else { return [edge.message] }
        if let button = edge.button { return [edge.message, "button \(button)", edge.text] }
        let fields = rule.words(ofFieldsFrom: edge.from)
        let origin = rule.origin == .own ? ["from \(platform) only"] : []
        let guards = (fields + Self.lines(of: rule.when, rule.unless, edge) + origin).map { "[\($0)]" }
        return [edge.message] + guards + (rule.guard.map { [$0.text(of: edge.rule.answer)] } ?? []) + [edge.text]
    }

    /// The short label of an arrow: the message without its kind, the act of the user, or the URL of the deep link; then
    /// the conditions on the message's fields, the answer to the guard, or a condition on other screens than the one at
    /// which the arrow starts.
    func words(of edge: FlowGraph.Edge) -> [String] {
        let name =
            UserAct(rawValue: edge.message)?.words ?? link(of: edge)?.url
            ?? edge.message.cut(at: ".").map { String($0.after) } ?? edge.message
        return [name, detail(of: edge)].compactMap(\.self).map(\.short).filter { !$0.isEmpty }
    }

    private func link(of edge: FlowGraph.Edge) -> Link? {
        edge.rule.isLink && links.indices.contains(edge.rule.index) ? links[edge.rule.index] : nil
    }

    private func detail(of edge: FlowGraph.Edge) -> String? {
        if edge.rule.isOtherwise { return "otherwise" }
        if let button = edge.button { return "button \(button)" }
        if let link = link(of: edge) { return link.when.first { !$0.isObvious(from: edge.from) }?.text }
        guard let rule = rule(of: edge) else { return nil }
        // Accepting is the rule's own effect. It is said only if there is nothing else to say.
        let answer = rule.guard.map { $0.text(of: edge.rule.answer) }
        if let answer, edge.rule.answer != .accepted { return answer }
        let fields = rule.words(ofFieldsFrom: edge.from)
        if !fields.isEmpty { return fields.joined(separator: ", ") }
        return answer ?? rule.when.first { !$0.isObvious(from: edge.from) }?.text
    }

    private static func lines(of when: [Condition], _ unless: [Condition], _ edge: FlowGraph.Edge) -> [String] {
        when.filter { !$0.isObvious(from: edge.from) }.map { "when \($0.text)" } + unless.map { "unless \($0.text)" }
    }

    private func rule(of edge: FlowGraph.Edge) -> Transition? {
        let rules = edge.rule.flow.map { flows[$0]?.transitions ?? [] } ?? transitions
        return rules.indices.contains(edge.rule.index) ? rules[edge.rule.index] : nil
    }
}

extension Flow.UserAct {
    fileprivate var words: String {
        switch self {
        case .wentBack: "user went back"
        case .dismissed: "user dismissed"
        case .selectedTab: "user selected tab"
        case .tappedTab: "user tapped tab"
        }
    }
}

extension Flow.Transition {
    /// The conditions on the fields of the message. The screen that the user has left is omitted if the arrow starts
    /// there.
    fileprivate func words(ofFieldsFrom screen: String?) -> [String] {
        let isAct = on.contains { Flow.UserAct(rawValue: $0) != nil }
        return fields.sorted { $0.key < $1.key }.filter { !(isAct && $0.key == "screen" && $0.value.text == screen) }
            .map { "\($0.key): \($0.value.text)" }
    }
}

extension FlowGraph.Edge {
    fileprivate var text: String {
        let name = action == .pop && to != nil ? "popTo" : action.rawValue
        let what = begins.map { "\(name) \($0)" } ?? name
        return switch placement {
        case .presented(let style): "\(what) as \(style.rawValue)"
        case .tab(let name): "\(what), tab \(name)"
        case .column(let name): "\(what) in \(name)"
        case .root, .path, .before: what
        }
    }
}

extension Flow.Condition {
    /// True if the label leaves the condition out, because it names the screen at which the arrow starts.
    fileprivate func isObvious(from screen: String?) -> Bool {
        screens.contains { $0.screen == screen && $0.arguments.isEmpty } && scope != .tab
    }

    fileprivate var text: String {
        let names = screens.map { screen in
            screen.screen + (screen.arguments.isEmpty ? "" : " \(screen.argumentsJSON)")
        }
        return "\(scope.rawValue): \(names.isEmpty ? "nothing" : names.joined(separator: " or "))"
    }
}

extension Flow.Match {
    fileprivate var text: String {
        let parts = [
            anyOf.map { $0.map(\.text).joined(separator: " or ") },
            noneOf.isEmpty ? nil : "not \(noneOf.map(\.text).joined(separator: " or "))",
            exists.map { $0 ? "is there" : "is not there" },
            atLeast.map { "at least \(JSONValue.number($0))" },
            atMost.map { "at most \(JSONValue.number($0))" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

extension JSONValue {
    fileprivate var text: String { stringValue ?? description }
}

extension Flow.Guard {
    fileprivate func text(of answer: FlowGraph.Answer?) -> String {
        switch answer {
        case .rejected: "after \(reject.map { Self.text(of: $0) } ?? "nothing")"
        case .expired: "no answer for \(deadline.text)"
        case .accepted, nil: "after \(Self.text(of: accept))"
        }
    }

    private static func text(of answer: Answer) -> String {
        let fields = answer.fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.text)" }
        return answer.on.joined(separator: " or ") + (fields.isEmpty ? "" : " [\(fields.joined(separator: ", "))]")
    }
}

extension String {
    /// The beginning of the text, on one line: at most 24 characters.
    fileprivate var short: String {
        // The text may have any length, and one Character any number of scalars.
        let start = String(String.UnicodeScalarView(unicodeScalars.prefix(200))).printable.unicodeScalars
        if start.count <= 24 { return String(start) }
        return String(String.UnicodeScalarView(start.prefix(23))) + "…"
    }
}
