package import Navigation
internal import Support

extension FlowReader {
    /// Reads a flow, as far as it is valid; findings report the rest. The result also has the parts that the flow does
    /// not keep: the trees of steps, and all declared screens, including duplicates. Nil if the document is not a
    /// mapping.
    mutating func flow(from document: FlowNode) -> (flow: Flow, trees: [Flow.Step], declared: [Flow.Screen])? {
        guard let members = flowMembers(of: document) else { return nil }
        let trees = members["steps"].map { steps($0) } ?? []
        let parts = Flow.parts(of: trees)
        let screens = (members["screens"].map { self.screens($0) } ?? []) + parts.screens
        let transitions = members["transitions"].map { self.transitions($0, at: "transitions") } ?? []
        recordParts(of: trees, after: transitions.count)
        // Missing keys have been reported. The values that replace them must not lead to further findings.
        let flow = Flow(
            name: members["name"].flatMap { string($0, "the flow's name") } ?? "",
            version: members["version"].flatMap { integer($0, "the flow's version") } ?? 0,
            platform: members["platform"].flatMap { string($0, "the flow's platform") } ?? "",
            start: members["start"].flatMap { string($0, "the start screen's name") } ?? screens.first?.name ?? "",
            screens: screens,
            presentations: members["presentations"].flatMap { choices($0, "style", of: PresentationStyle.self) },
            requests: members["requests"].flatMap { choices($0, "action", of: Flow.ActionName.self) } ?? [],
            ignores: members["ignores"].flatMap { strings($0, "an event or error that the flow ignores") } ?? [],
            commands: members["commands"].map { commands($0) } ?? [:],
            flows: members["flows"].map { flows($0, screens) } ?? [],
            transitions: transitions + parts.transitions,
            links: members["links"].map { links($0) } ?? [],
            properties: members["properties"].map { properties($0) } ?? []
        )
        return (flow, trees, screens)
    }

    private mutating func flowMembers(of document: FlowNode) -> [String: FlowNode]? {
        let keys = ["name", "version", "platform", "start"]
        // A flow with `steps` may leave out `screens` and `transitions`, because steps declare screens and rules.
        let written = ["screens", "transitions"]
        let hasSteps = document.mapping?.contains { name(of: $0.key) == "steps" } ?? false
        return members(
            of: document,
            "the flow",
            at: "",
            required: keys + (hasSteps ? [] : written),
            optional: ["presentations", "requests", "ignores", "commands", "flows", "links", "properties", "steps"]
                + (hasSteps ? written : [])
        )
    }

    private mutating func screens(_ node: FlowNode) -> [Flow.Screen] {
        guard case .mapping(let mapping) = node.content, !mapping.isEmpty else {
            report("'screens' must be a mapping from screen names to screens, with at least one screen", at: node)
            return []
        }
        return mapping.compactMap { key, node in
            guard let name = string(key, "a screen's name") else { return nil }
            let screen = screen(name, node)
            record("screens.\(name)", at: key)
            return screen
        }
    }

    private mutating func screen(_ name: String, _ node: FlowNode) -> Flow.Screen {
        // A screen without properties may be left empty after its colon.
        if case .scalar(let scalar) = node.content, scalar.text.isEmpty { return Flow.Screen(name) }
        let members = members(
            of: node, "screen '\(name)'", at: "screens.\(name)",
            optional: ["title", "sends", "arguments", "gate", "once", "back"])
        return Flow.Screen(
            name,
            title: members?["title"].flatMap { string($0, "a screen's title") },
            sends: members?["sends"].flatMap { strings($0, "a command that a screen sends") } ?? [],
            arguments: members?["arguments"].map {
                declaredFields($0, of: name, "arguments", at: "screens.\(name).arguments")
            },
            gate: members?["gate"].flatMap { bool($0, "gate") } ?? false,
            once: members?["once"].flatMap { bool($0, "once") } ?? false,
            back: members?["back"].flatMap { bool($0, "back") } ?? true
        )
    }

    private mutating func flows(_ node: FlowNode, _ screens: [Flow.Screen]) -> [Flow.Child] {
        guard case .mapping(let mapping) = node.content else {
            report("'flows' must be a mapping from child flows' names to { start, transitions }", at: node)
            return []
        }
        return mapping.compactMap { key, node in
            guard let name = string(key, "a child flow's name") else { return nil }
            let child = child(name, at: node, in: screens)
            record("flows.\(name)", at: key)
            return child
        }
    }

    private mutating func child(_ name: String, at node: FlowNode, in screens: [Flow.Screen]) -> Flow.Child {
        let keyPath = "flows.\(name)"
        let members = members(of: node, "flow '\(name)'", at: keyPath, required: ["start", "transitions"])
        let start = members?["start"].flatMap { string($0, "the start screen's name") }
        let transitions = members?["transitions"].map { self.transitions($0, at: "\(keyPath).transitions") }
        return Flow.Child(name, start: start ?? screens.first?.name ?? "", transitions: transitions ?? [])
    }

    private mutating func transitions(_ node: FlowNode, at list: String) -> [Flow.Transition] {
        guard case .sequence(let elements) = node.content else {
            report("'transitions' must be a list of rules, each beginning with '- on: TYPE'", at: node)
            return []
        }
        var transitions: [Flow.Transition] = []
        for element in elements {
            // The index counts the valid entries, as in the finished flow.
            let keyPath = "\(list)[\(transitions.count)]"
            if let transition = transition(element, at: keyPath) {
                transitions.append(transition)
            } else {
                forget(keyPath)
            }
        }
        return transitions
    }

    private mutating func transition(_ node: FlowNode, at keyPath: String) -> Flow.Transition? {
        let members = members(
            of: node,
            "a rule",
            at: keyPath,
            required: ["do"],
            optional: ["on", "after", "where", "when", "unless", "origin", "guard"]
        )
        if let members, members["after"] != nil { return wait(members, node, at: keyPath) }
        if let members, members["on"] == nil { report("a rule lacks 'on'; add it", at: node) }
        guard let members, let on = members["on"].flatMap({ strings($0, "a message's type") }),
            let actions = members["do"].flatMap({ self.actions($0, at: "\(keyPath).do") })
        else { return nil }
        return Flow.Transition(
            on: on,
            where: members["where"].map { fields($0, at: "\(keyPath).where") } ?? [:],
            when: members["when"].map { conditions($0, "when", at: "\(keyPath).when") } ?? [],
            unless: members["unless"].map { conditions($0, "unless", at: "\(keyPath).unless") } ?? [],
            origin: members["origin"].flatMap { choice($0, "origin", of: Flow.Origin.self) } ?? .any,
            guard: members["guard"].map { condition($0, at: "\(keyPath).guard") },
            do: actions,
            file: file,
            line: node.mark?.line ?? 0
        )
    }

    /// Reads a rule that waits instead of answering a message.
    private mutating func wait(_ members: [String: FlowNode], _ node: FlowNode, at keyPath: String) -> Flow.Transition?
    {
        for key in ["on", "where", "origin", "guard"] {
            guard let other = members[key] else { continue }
            report("a rule with 'after' answers no message; remove '\(key)'", at: other)
        }
        guard let time = members["after"].flatMap({ duration($0, "the time in 'after'") }),
            let actions = members["do"].flatMap({ self.actions($0, at: "\(keyPath).do") })
        else { return nil }
        return Flow.Transition(
            after: time,
            when: members["when"].map { conditions($0, "when", at: "\(keyPath).when") } ?? [],
            unless: members["unless"].map { conditions($0, "unless", at: "\(keyPath).unless") } ?? [],
            do: actions, file: file, line: node.mark?.line ?? 0)
    }

    /// Reads the conditions on a message's fields, by dotted path.
    mutating func fields(_ node: FlowNode, at keyPath: String) -> [String: Flow.Match] {
        guard case .mapping(let mapping) = node.content else {
            report("'where' must be a mapping from fields to their values or conditions", at: node)
            return [:]
        }
        var fields: [String: Flow.Match] = [:]
        for (key, node) in mapping {
            guard let field = string(key, "a field's path") else { continue }
            fields[field] = match(node, field, at: "\(keyPath).\(field)")
            record("\(keyPath).\(field)", at: key)
        }
        return fields
    }

    mutating func match(_ node: FlowNode, _ field: String, at keyPath: String) -> Flow.Match? {
        guard case .mapping = node.content else { return Flow.Match(anyOf: values(node)) }
        let what = "the condition on '\(field)'"
        guard let members = members(of: node, what, at: keyPath, optional: Flow.Match.operators) else { return nil }
        return Flow.Match(
            anyOf: members["anyOf"].map { values($0) },
            noneOf: members["not"].map { values($0) } ?? [],
            exists: members["exists"].flatMap { bool($0, "exists") },
            atLeast: members["atLeast"].flatMap { number($0, "atLeast") },
            atMost: members["atMost"].flatMap { number($0, "atMost") }
        )
    }

    private mutating func values(_ node: FlowNode) -> [JSONValue] {
        let value = value(node)
        return value.arrayValue ?? [value]
    }

    /// The maximum number of mappings in a list of conditions.
    private static let conditionLimit = 16

    /// Reads a mapping of conditions, or a list of such mappings.
    mutating func conditions(_ node: FlowNode, _ what: String, at location: String) -> [Flow.Condition] {
        guard case .sequence(let elements) = node.content, !elements.isEmpty else {
            return conditions(node, what, at: location, within: location, after: [])
        }
        if elements.count > Self.conditionLimit {
            report(
                "'\(what)' has \(elements.count) mappings, and at most \(Self.conditionLimit) are allowed; join some",
                at: node)
        }
        var conditions: [Flow.Condition] = []
        for (index, element) in elements.prefix(Self.conditionLimit).enumerated() {
            conditions += self.conditions(
                element, what, at: "\(location)[\(index)]", within: location, after: conditions)
        }
        return conditions
    }

    /// Reads one mapping of the list of conditions at the place `list`.
    private mutating func conditions(
        _ node: FlowNode, _ what: String, at location: String, within list: String, after former: [Flow.Condition]
    ) -> [Flow.Condition] {
        let scopes = Flow.Condition.Scope.allCases
        let members = members(of: node, "'\(what)'", at: location, optional: scopes.map(\.rawValue))
        return scopes.compactMap { scope in
            guard let node = members?[scope.rawValue] else { return nil }
            let number = former.count { $0.scope == scope }
            let keyPath = Flow.Condition.place(of: scope, number: number, at: list)
            if list != location { record(keyPath, at: node) }
            if scope == .tab {
                return strings(node, "a tab's name").map { Flow.Condition(scope, $0.map { .screen($0) }) }
            }
            return Flow.Condition(scope, conditionScreens(node, scope.rawValue, at: keyPath))
        }
    }

    mutating func condition(_ node: FlowNode, at keyPath: String) -> Flow.Guard {
        let members = members(
            of: node,
            "a guard",
            at: keyPath,
            required: ["accept", "deadline"],
            optional: ["ask", "reject", "meanwhile", "rejected", "expired"]
        )
        // Missing keys have been reported. The values that replace them must not lead to further findings.
        return Flow.Guard(
            ask: members?["ask"].flatMap { ask($0, at: "\(keyPath).ask") },
            accept: members?["accept"].flatMap { answer($0, at: "\(keyPath).accept") } ?? "event.Unread",
            reject: members?["reject"].flatMap { answer($0, at: "\(keyPath).reject") },
            deadline: members?["deadline"].flatMap { duration($0, "a guard's deadline") } ?? .seconds(1),
            meanwhile: members?["meanwhile"].flatMap { choice($0, "policy", of: Flow.Guard.Meanwhile.self) } ?? .drop,
            rejected: members?["rejected"].map { outcome($0, "rejected", at: "\(keyPath).rejected") } ?? [],
            expired: members?["expired"].map { outcome($0, "expired", at: "\(keyPath).expired") } ?? []
        )
    }

    private mutating func ask(_ node: FlowNode, at keyPath: String) -> Flow.Guard.Ask? {
        if case .scalar(let scalar) = node.content, !scalar.text.isEmpty { return Flow.Guard.Ask(scalar.text) }
        let members = members(of: node, "'ask'", at: keyPath, required: ["type"], optional: ["data"])
        guard let members, let type = members["type"].flatMap({ string($0, "a command's type") }) else { return nil }
        return Flow.Guard.Ask(type, data: .object(members["data"].map { object($0) } ?? [:]))
    }

    private mutating func answer(_ node: FlowNode, at keyPath: String) -> Flow.Guard.Answer? {
        if case .scalar(let scalar) = node.content, !scalar.text.isEmpty { return Flow.Guard.Answer(scalar.text) }
        if case .sequence = node.content { return strings(node, "a message's type").map { Flow.Guard.Answer($0) } }
        let members = members(of: node, "an answer", at: keyPath, required: ["on"], optional: ["where"])
        guard let members, let on = members["on"].flatMap({ strings($0, "a message's type") }) else { return nil }
        return Flow.Guard.Answer(on, where: members["where"].map { fields($0, at: "\(keyPath).where") } ?? [:])
    }

    private mutating func outcome(_ node: FlowNode, _ what: String, at keyPath: String) -> [Flow.Action] {
        guard case .sequence = node.content else {
            report("'\(what)' must be a list of actions, each beginning with '- '", at: node)
            return []
        }
        return actions(node, at: keyPath) ?? []
    }

    /// Reads the trees of steps. Invalid steps are reported and left out.
    mutating func steps(_ node: FlowNode, at list: String = "steps") -> [Flow.Step] {
        guard case .sequence(let elements) = node.content else {
            report("'steps' must be a list of steps, each beginning with '- screen: NAME'", at: node)
            return []
        }
        var steps: [Flow.Step] = []
        for element in elements {
            // The index counts the valid entries, as in the finished flow.
            let keyPath = "\(list)[\(steps.count)]"
            if let step = step(element, at: keyPath) { steps.append(step) } else { forget(keyPath) }
        }
        return steps
    }

    private mutating func step(_ node: FlowNode, at keyPath: String) -> Flow.Step? {
        let members = members(
            of: node,
            "a step",
            at: keyPath,
            required: ["screen"],
            optional: ["title", "where", "next", "sends", "guard", "steps"]
        )
        guard let members, let screen = members["screen"].flatMap({ string($0, "a screen's name") }) else { return nil }
        return Flow.Step(
            screen,
            title: members["title"].flatMap { string($0, "a screen's title") },
            where: members["where"].map { fields($0, at: "\(keyPath).where") } ?? [:],
            next: members["next"].flatMap { string($0, "a command's type") },
            sends: members["sends"].flatMap { strings($0, "a command that a screen sends") } ?? [],
            guard: members["guard"].map { condition($0, at: "\(keyPath).guard") },
            steps: members["steps"].map { steps($0, at: "\(keyPath).steps") } ?? [],
            location: RuleLocation(file: file, line: node.mark?.line ?? 0)
        )
    }

    /// Records that the screens and rules that steps declare are at the positions of the steps.
    /// - Parameter count: The number of rules before those of the steps.
    mutating func recordParts(of trees: [Flow.Step], after count: Int) {
        var count = count
        for (keyPath, step) in Flow.steps(of: trees, at: "steps") {
            recordAlias("screens.\(step.screen)", of: keyPath)
            for _ in step.rules {
                recordAlias("transitions[\(count)]", of: keyPath)
                count += 1
            }
        }
    }

    mutating func links(_ node: FlowNode) -> [Flow.Link] {
        guard case .sequence(let elements) = node.content else {
            report("'links' must be a list of links, each beginning with '- url: PATTERN'", at: node)
            return []
        }
        var links: [Flow.Link] = []
        for element in elements {
            // The index counts the valid entries, as in the finished flow.
            let keyPath = "links[\(links.count)]"
            if let link = link(element, at: keyPath) { links.append(link) } else { forget(keyPath) }
        }
        return links
    }

    private mutating func link(_ node: FlowNode, at keyPath: String) -> Flow.Link? {
        let members = members(
            of: node, "a link", at: keyPath, required: ["url"],
            optional: ["when", "unless", "to", "otherwise", "redirect", "action", "send", "park", "over"])
        guard let members, let url = members["url"].flatMap({ string($0, "a link's URL") }) else { return nil }
        let to = members["to"].flatMap { target($0, "to", at: "\(keyPath).to") }
        let redirect = members["redirect"].flatMap { string($0, "a link's redirect") }
        let isAction = members["action"].map { bool($0, "action") } ?? false
        // A link without a key that cannot be read would be another kind of link.
        guard let isAction, (to == nil) == (members["to"] == nil), (redirect == nil) == (members["redirect"] == nil)
        else { return nil }
        return Flow.Link(
            url,
            when: members["when"].map { conditions($0, "when", at: "\(keyPath).when") } ?? [],
            unless: members["unless"].map { conditions($0, "unless", at: "\(keyPath).unless") } ?? [],
            to: to,
            otherwise: members["otherwise"].flatMap { target($0, "otherwise", at: "\(keyPath).otherwise") },
            redirect: redirect,
            action: isAction,
            send: members["send"].map { sends($0, at: "\(keyPath).send") } ?? [],
            park: members["park"].flatMap { duration($0, "'park'") } ?? Flow.Link.usualPark,
            over: members["over"].map { over($0, at: "\(keyPath).over") } ?? [:],
            file: file,
            line: node.mark?.line ?? 0
        )
    }

    private mutating func properties(_ node: FlowNode) -> [Flow.Property] {
        guard case .sequence(let elements) = node.content else {
            report("'properties' must be a list, such as '- never: { presented: menu }'", at: node)
            return []
        }
        var properties: [Flow.Property] = []
        for element in elements {
            // The index counts the valid entries, as in the finished flow.
            let keyPath = Flow.keyPath(ofProperty: properties.count)
            if let property = property(element, at: keyPath) { properties.append(property) } else { forget(keyPath) }
        }
        return properties
    }

    private mutating func property(_ node: FlowNode, at keyPath: String) -> Flow.Property? {
        let kinds = Flow.Property.Kind.allCases
        let members = members(
            of: node, "a property", at: keyPath, optional: ["when", "unless"] + kinds.map(\.rawValue))
        guard let members else { return nil }
        let stated = kinds.filter { members[$0.rawValue] != nil }
        guard stated.count == 1, let kind = stated.first, let conditions = members[kind.rawValue] else {
            report("a property has one of the keys \(kinds.map(\.rawValue).joined(separator: ", "))", at: node)
            return nil
        }
        return Flow.Property(
            kind, self.conditions(conditions, kind.rawValue, at: "\(keyPath).\(kind.rawValue)"),
            when: members["when"].map { self.conditions($0, "when", at: "\(keyPath).when") } ?? [],
            unless: members["unless"].map { self.conditions($0, "unless", at: "\(keyPath).unless") } ?? [])
    }

    private mutating func over(_ node: FlowNode, at keyPath: String) -> [PresentationStyle: Flow.Precedence] {
        let styles = PresentationStyle.allCases
        let members = members(of: node, "'over'", at: keyPath, optional: styles.map(\.rawValue))
        var over: [PresentationStyle: Flow.Precedence] = [:]
        for style in styles {
            over[style] = members?[style.rawValue].flatMap { choice($0, "precedence", of: Flow.Precedence.self) }
        }
        return over
    }

    /// Reads a command or a list of commands.
    private mutating func sends(_ node: FlowNode, at keyPath: String) -> [Flow.Link.Sending] {
        let elements = if case .sequence(let sequence) = node.content { sequence } else { [node] }
        var sends: [Flow.Link.Sending] = []
        for element in elements {
            let keyPath = "\(keyPath)[\(sends.count)]"
            record(keyPath, at: element)
            guard case .send(let type, let data) = send(element, at: keyPath) else { continue }
            sends.append(Flow.Link.Sending(type, data.objectValue ?? [:]))
        }
        return sends
    }

    /// Reads the screens of a state, in the form of a link's `to`.
    package mutating func target(_ node: FlowNode, _ key: String, at keyPath: String) -> Flow.Link.Target? {
        let members = members(
            of: node, "'\(key)'", at: keyPath, optional: ["root", "tab", "columns", "path", "present"])
        guard let members else { return nil }
        return Flow.Link.Target(
            root: members["root"].flatMap { root($0, at: "\(keyPath).root") },
            tab: members["tab"].flatMap { string($0, "a tab's name") },
            columns: members["columns"].map { columns($0, at: "\(keyPath).columns") } ?? [:],
            path: members["path"].map { destinations($0, "path", at: "\(keyPath).path") } ?? [],
            present: members["present"].flatMap { presented($0, at: "\(keyPath).present") }
        )
    }

    private mutating func root(_ node: FlowNode, at keyPath: String) -> Flow.Link.Root? {
        guard case .setRoot(let destination, let container) = setRoot(node, at: keyPath) else { return nil }
        return Flow.Link.Root(destination, container: container)
    }

    private mutating func presented(_ node: FlowNode, at keyPath: String) -> Flow.Link.Presented? {
        guard case .present(let destination, as: let style, options: let options) = present(node, at: keyPath) else {
            return nil
        }
        return Flow.Link.Presented(destination, as: style, options: options)
    }

    private mutating func columns(_ node: FlowNode, at keyPath: String) -> [String: Flow.Link.Column] {
        guard case .mapping(let mapping) = node.content else {
            report("'columns' must be a mapping from columns' names to screens", at: node)
            return [:]
        }
        var columns: [String: Flow.Link.Column] = [:]
        for (key, value) in mapping {
            guard let name = string(key, "a column's name") else { continue }
            let keyPath = "\(keyPath).\(name)"
            record(keyPath, at: key)
            guard let (first, more) = destination(value, "columns", at: keyPath, optional: ["path"]) else { continue }
            let path = more["path"].map { destinations($0, "path", at: "\(keyPath).path") }
            columns[name] = Flow.Link.Column(first, path: path ?? [])
        }
        return columns
    }
}
