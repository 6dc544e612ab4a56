internal import Yams

extension YAMLReader {
    mutating func present(_ node: Node, at place: String) -> Flow.Action? {
        let optional = ["detents", "dragIndicator", "interactiveDismissal", "title", "message", "buttons"]
        if let (name, arguments, more) = childFlow(node, "present", at: place, required: ["style"], optional: optional)
        {
            return style(more).map { style in
                .presentFlow(name, arguments: arguments, as: style, options: options(more, at: place))
            }
        }
        let read = destination(node, "present", at: place, required: ["style"], optional: optional)
        guard let (destination, more) = read else { return nil }
        return style(more).map { .present(destination, as: $0, options: options(more, at: place)) }
    }

    private mutating func style(_ members: [String: Node]) -> PresentationStyle? {
        members["style"].flatMap { choice($0, "style", of: PresentationStyle.self) }
    }

    private mutating func options(_ members: [String: Node], at place: String) -> PresentationOptions {
        PresentationOptions(
            detents: members["detents"].flatMap { choices($0, "detent", of: Detent.self) },
            dragIndicator: members["dragIndicator"].flatMap { bool($0, "dragIndicator") },
            interactiveDismissal: members["interactiveDismissal"].flatMap { bool($0, "interactiveDismissal") },
            title: members["title"].flatMap { string($0, "a title") },
            message: members["message"].flatMap { string($0, "a message") },
            buttons: members["buttons"].flatMap { buttons($0, at: "\(place).buttons") }
        )
    }

    private mutating func buttons(_ node: Node, at place: String) -> [AlertButton]? {
        guard case .sequence(let elements) = node else {
            report("buttons must be a list of { id, title, role, sends }", at: node)
            return nil
        }
        return elements.compactMap { element in
            let members = members(
                of: element, "a button", at: place, required: ["id", "title"], optional: ["role", "sends"])
            guard let id = members?["id"].flatMap({ string($0, "a button's id") }),
                let title = members?["title"].flatMap({ string($0, "a button's title") })
            else { return nil }
            return AlertButton(
                id: id,
                title: title,
                role: members?["role"].flatMap { choice($0, "role", of: AlertButton.Role.self) },
                sends: members?["sends"].flatMap { string($0, "the command that a button sends") }
            )
        }
    }
}
