internal import Yams

extension YAMLReader {
    mutating func present(_ node: Node, at place: String) -> Flow.Action? {
        let optional = ["detents", "dragIndicator", "interactiveDismissal", "title", "message", "buttons"]
        guard
            let (destination, more) = destination(
                node, "present", at: place, required: ["style"], optional: optional),
            let style = more["style"].flatMap({ choice($0, "style", of: PresentationStyle.self) })
        else { return nil }
        let options = PresentationOptions(
            detents: more["detents"].flatMap { choices($0, "detent", of: Detent.self) },
            dragIndicator: more["dragIndicator"].flatMap { bool($0, "dragIndicator") },
            interactiveDismissal: more["interactiveDismissal"].flatMap { bool($0, "interactiveDismissal") },
            title: more["title"].flatMap { string($0, "a title") },
            message: more["message"].flatMap { string($0, "a message") },
            buttons: more["buttons"].flatMap { buttons($0, at: "\(place).buttons") }
        )
        return .present(destination, as: style, options: options)
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
