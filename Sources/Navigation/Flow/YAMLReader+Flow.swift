internal import Yams

extension YAMLReader {
    /// The flow that a document describes, as far as it can be read; findings say what could not be.
    mutating func flow(from document: Node) -> Flow? {
        guard let members = flowMembers(of: document) else { return nil }
        trees = members["steps"].map { steps($0) } ?? []
        let parts = Flow.parts(of: trees)
        let screens = (members["screens"].map { self.screens($0) } ?? []) + parts.screens
        declared = screens
        let transitions = members["transitions"].map { self.transitions($0, at: "transitions") } ?? []
        noteParts(of: trees, after: transitions.count)
        // What is missing has been reported: what stands in for it must give the checks nothing more to say.
        return Flow(
            name: members["name"].flatMap { string($0, "the flow's name") } ?? "",
            version: members["version"].flatMap { integer($0, "the flow's version") } ?? 0,
            platform: members["platform"].flatMap { string($0, "the flow's platform") } ?? "",
            start: members["start"].flatMap { string($0, "the start screen's name") } ?? screens.first?.name ?? "",
            screens: screens,
            presentations: members["presentations"].flatMap { choices($0, "style", of: PresentationStyle.self) },
            requests: members["requests"].flatMap { choices($0, "action", of: Flow.ActionName.self) } ?? [],
            ignores: members["ignores"].flatMap { strings($0, "an event or error that the flow ignores") } ?? [],
            flows: members["flows"].map { flows($0, screens) } ?? [],
            transitions: transitions + parts.transitions,
            links: members["links"].map { links($0) } ?? []
        )
    }

    private mutating func flowMembers(of document: Node) -> [String: Node]? {
        let keys = ["name", "version", "platform", "start"]
        // Steps declare screens and rules.
        let written = ["screens", "transitions"]
        let hasSteps = document.mapping?.keys.contains { name(of: $0) == "steps" } ?? false
        return members(
            of: document,
            "the flow",
            at: "",
            required: keys + (hasSteps ? [] : written),
            optional: ["presentations", "requests", "ignores", "flows", "links", "steps"] + (hasSteps ? written : [])
        )
    }

    private mutating func screens(_ node: Node) -> [Flow.Screen] {
        guard case .mapping(let mapping) = node, !mapping.isEmpty else {
            report("screens must be a mapping of screens' names to what they send", at: node)
            return []
        }
        return mapping.compactMap { key, node in
            guard let name = string(key, "a screen's name") else { return nil }
            let screen = screen(name, node)
            note("screens.\(name)", at: key)
            return screen
        }
    }

    private mutating func screen(_ name: String, _ node: Node) -> Flow.Screen {
        // A screen about which there is nothing to say may be left empty after its colon.
        if case .scalar(let scalar) = node, scalar.string.isEmpty { return Flow.Screen(name) }
        let members = members(
            of: node, "screen '\(name)'", at: "screens.\(name)", optional: ["title", "sends", "gate"])
        return Flow.Screen(
            name,
            title: members?["title"].flatMap { string($0, "a screen's title") },
            sends: members?["sends"].flatMap { strings($0, "a command that a screen sends") } ?? [],
            gate: members?["gate"].flatMap { bool($0, "gate") } ?? false
        )
    }

    private mutating func flows(_ node: Node, _ screens: [Flow.Screen]) -> [Flow.Child] {
        guard case .mapping(let mapping) = node else {
            report("flows must be a mapping of child flows' names to their start and transitions", at: node)
            return []
        }
        return mapping.compactMap { key, node in
            guard let name = string(key, "a child flow's name") else { return nil }
            let child = child(name, node, screens)
            note("flows.\(name)", at: key)
            return child
        }
    }

    private mutating func child(_ name: String, _ node: Node, _ screens: [Flow.Screen]) -> Flow.Child {
        let place = "flows.\(name)"
        let members = members(of: node, "flow '\(name)'", at: place, required: ["start", "transitions"])
        let start = members?["start"].flatMap { string($0, "the start screen's name") }
        let transitions = members?["transitions"].map { self.transitions($0, at: "\(place).transitions") }
        return Flow.Child(name, start: start ?? screens.first?.name ?? "", transitions: transitions ?? [])
    }

    private mutating func transitions(_ node: Node, at list: String) -> [Flow.Transition] {
        guard case .sequence(let elements) = node else {
            report("transitions must be a list, each beginning with '- on: TYPE'", at: node)
            return []
        }
        var transitions: [Flow.Transition] = []
        for element in elements {
            // The place counts what could be read, for that is how the checks will count.
            let place = "\(list)[\(transitions.count)]"
            if let transition = transition(element, at: place) {
                transitions.append(transition)
            } else {
                forget(place)
            }
        }
        return transitions
    }

    private mutating func transition(_ node: Node, at place: String) -> Flow.Transition? {
        let members = members(
            of: node,
            "a transition",
            at: place,
            required: ["on", "do"],
            optional: ["where", "when", "unless", "origin", "guard"]
        )
        guard let members, let on = members["on"].flatMap({ string($0, "a message's type") }),
            let actions = members["do"].flatMap({ self.actions($0, at: "\(place).do") })
        else { return nil }
        return Flow.Transition(
            on: on,
            where: members["where"].map { fields($0, at: "\(place).where") } ?? [:],
            when: members["when"].map { conditions($0, "when", at: "\(place).when") } ?? [],
            unless: members["unless"].map { conditions($0, "unless", at: "\(place).unless") } ?? [],
            origin: members["origin"].flatMap { choice($0, "origin", of: Flow.Origin.self) } ?? .any,
            guard: members["guard"].map { condition($0, at: "\(place).guard") },
            do: actions
        )
    }
}
