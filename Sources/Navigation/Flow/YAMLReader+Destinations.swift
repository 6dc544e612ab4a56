internal import Yams

extension YAMLReader {
    /// A screen with its arguments, and the other members of the action that names it.
    ///
    /// An action that needs nothing else may give the screen's name alone: `push: settings`.
    mutating func destination(
        _ node: Node,
        _ action: String,
        at place: String,
        required: [String] = [],
        optional: [String] = []
    ) -> (destination: Flow.Destination, more: [String: Node])? {
        if required.isEmpty, case .scalar = node {
            note("\(place).screen", at: node)
            return string(node, "a screen's name").map { (.screen($0), [:]) }
        }
        let members = members(
            of: node,
            "'\(action)'",
            at: place,
            required: ["screen"] + required,
            optional: ["arguments"] + optional
        )
        guard let members, let screen = members["screen"].flatMap({ string($0, "a screen's name") }) else { return nil }
        return (.screen(screen, members["arguments"].map { object($0) } ?? [:]), members)
    }

    /// A child flow with its arguments, and the other members of the action that begins it; nil when the action names
    /// no flow.
    mutating func childFlow(
        _ node: Node,
        _ action: String,
        at place: String,
        required: [String] = [],
        optional: [String] = []
    ) -> (name: String, arguments: [String: JSONValue], more: [String: Node])? {
        guard case .mapping(let mapping) = node, mapping.contains(where: { self.name(of: $0.key) == "flow" }) else {
            return nil
        }
        let members = members(
            of: node, "'\(action)'", at: place, required: ["flow"] + required, optional: ["arguments"] + optional)
        let name = members?["flow"].flatMap { string($0, "a child flow's name") } ?? ""
        return (name, members?["arguments"].map { object($0) } ?? [:], members ?? [:])
    }

    /// One screen or a list of them.
    mutating func destinations(_ node: Node, _ action: String, at place: String) -> [Flow.Destination] {
        let nodes: [Node] = if case .sequence(let elements) = node { Array(elements) } else { [node] }
        var destinations: [Flow.Destination] = []
        for node in nodes {
            let place = "\(place)[\(destinations.count)]"
            note(place, at: node)
            if let read = destination(node, action, at: place) { destinations.append(read.destination) }
        }
        return destinations
    }
}
