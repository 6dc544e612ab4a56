internal import Yams

extension YAMLReader {
    mutating func setRoot(_ node: Node, at place: String) -> Flow.Action? {
        guard let (destination, more) = destination(node, "setRoot", at: place, optional: ["container"]) else {
            return nil
        }
        return .setRoot(destination, container: more["container"].flatMap { layout($0, at: "\(place).container") })
    }

    private mutating func layout(_ node: Node, at place: String) -> Flow.Layout? {
        if case .scalar(let scalar) = node {
            if scalar.string == "split" { return .split }
            report("unknown container '\(scalar.string)'; write 'split' or '{ tabs: [SCREEN, …] }'", at: node)
            return nil
        }
        guard let tabs = members(of: node, "a container", at: place, required: ["tabs"])?["tabs"] else { return nil }
        guard case .sequence(let elements) = tabs else {
            report("tabs must be a list of screens or of { name, screen, arguments }", at: tabs)
            return nil
        }
        return .tabs(elements.enumerated().compactMap { tab($0.element, at: "\(place).tabs[\($0.offset)]") })
    }

    private mutating func tab(_ node: Node, at place: String) -> Flow.Tab? {
        note(place, at: node)
        guard let (destination, more) = destination(node, "tabs", at: place, optional: ["name"]) else { return nil }
        let name = more["name"].map { string($0, "a tab's name") } ?? destination.screen
        return name.map { .tab($0, destination) }
    }

    mutating func push(_ node: Node, at place: String) -> Flow.Action? {
        if let (name, arguments, more) = childFlow(node, "push", at: place, optional: ["column"]) {
            let column = more["column"].flatMap { string($0, "a column's name") }
            return .pushFlow(name, arguments: arguments, column: column)
        }
        guard let (destination, more) = destination(node, "push", at: place, optional: ["column"]) else { return nil }
        return .push(destination, column: more["column"].flatMap { string($0, "a column's name") })
    }

    /// `pop: 2`, `pop: list`, or either with the column: `pop: { to: list, column: detail }`.
    mutating func pop(_ node: Node, at place: String) -> Flow.Action? {
        guard case .mapping = node else { return extent(node).map { .pop($0) } }
        guard let members = members(of: node, "'pop'", at: place, optional: ["count", "to", "column"]) else {
            return nil
        }
        let column = members["column"].flatMap { string($0, "a column's name") }
        switch (members["count"], members["to"]) {
        case (let count?, nil):
            return integer(count, "the number of screens to pop").map { .pop(.count($0), column: column) }
        case (nil, let screen?): return string(screen, "the screen to pop to").map { .pop(.to($0), column: column) }
        case (nil, nil): return .pop(1, column: column)
        case (_?, _?):
            report("'pop' takes either 'count' or 'to'; remove one", at: node)
            return nil
        }
    }

    private mutating func extent(_ node: Node) -> Flow.Extent? {
        switch value(node) {
        case .integer(let count): return .count(count)
        case .string(let screen) where !screen.isEmpty: return .to(screen)
        default:
            report("'pop' takes a number of screens, or the screen to pop to", at: node)
            return nil
        }
    }

    mutating func show(_ node: Node, at place: String) -> Flow.Action? {
        guard let (destination, more) = destination(node, "show", at: place, required: ["column"]) else { return nil }
        return more["column"].flatMap { string($0, "a column's name") }.map { .show(destination, column: $0) }
    }
}
