internal import Yams

extension YAMLReader {
    mutating func links(_ node: Node) -> [Flow.Link] {
        guard case .sequence(let elements) = node else {
            report("links must be a list, each beginning with '- url: PATTERN'", at: node)
            return []
        }
        var links: [Flow.Link] = []
        for element in elements {
            // The place counts what could be read, for that is how the checks will count.
            let place = "links[\(links.count)]"
            if let link = link(element, at: place) { links.append(link) } else { forget(place) }
        }
        return links
    }

    private mutating func link(_ node: Node, at place: String) -> Flow.Link? {
        let members = members(
            of: node, "a link", at: place, required: ["url", "to"],
            optional: ["when", "unless", "send", "park", "over"])
        guard let members, let url = members["url"].flatMap({ string($0, "a link's URL") }),
            let to = members["to"].flatMap({ target($0, at: "\(place).to") })
        else { return nil }
        return Flow.Link(
            url,
            when: members["when"].map { conditions($0, "when", at: "\(place).when") } ?? [],
            unless: members["unless"].map { conditions($0, "unless", at: "\(place).unless") } ?? [],
            to: to,
            send: members["send"].map { sends($0, at: "\(place).send") } ?? [],
            park: members["park"].flatMap { duration($0, "'park'") } ?? Flow.Link.usualPark,
            over: members["over"].map { over($0, at: "\(place).over") } ?? [:]
        )
    }

    private mutating func over(_ node: Node, at place: String) -> [PresentationStyle: Flow.Precedence] {
        let styles = PresentationStyle.allCases
        let members = members(of: node, "'over'", at: place, optional: styles.map(\.rawValue))
        var over: [PresentationStyle: Flow.Precedence] = [:]
        for style in styles {
            over[style] = members?[style.rawValue].flatMap { choice($0, "precedence", of: Flow.Precedence.self) }
        }
        return over
    }

    /// As a list, or one command in place of a list of one.
    private mutating func sends(_ node: Node, at place: String) -> [Flow.Link.Sending] {
        let elements = if case .sequence(let sequence) = node { Array(sequence) } else { [node] }
        var sends: [Flow.Link.Sending] = []
        for element in elements {
            let place = "\(place)[\(sends.count)]"
            note(place, at: element)
            guard case .send(let type, let data) = send(element, at: place) else { continue }
            sends.append(Flow.Link.Sending(type, data.objectValue ?? [:]))
        }
        return sends
    }

    private mutating func target(_ node: Node, at place: String) -> Flow.Link.Target? {
        let members = members(of: node, "'to'", at: place, optional: ["root", "tab", "columns", "path", "present"])
        guard let members else { return nil }
        return Flow.Link.Target(
            root: members["root"].flatMap { root($0, at: "\(place).root") },
            tab: members["tab"].flatMap { string($0, "a tab's name") },
            columns: members["columns"].map { columns($0, at: "\(place).columns") } ?? [:],
            path: members["path"].map { destinations($0, "path", at: "\(place).path") } ?? [],
            present: members["present"].flatMap { presented($0, at: "\(place).present") }
        )
    }

    private mutating func root(_ node: Node, at place: String) -> Flow.Link.Root? {
        guard case .setRoot(let destination, let container) = setRoot(node, at: place) else { return nil }
        return Flow.Link.Root(destination, container: container)
    }

    private mutating func presented(_ node: Node, at place: String) -> Flow.Link.Presented? {
        guard case .present(let destination, let style, let options) = present(node, at: place) else { return nil }
        return Flow.Link.Presented(destination, as: style, options: options)
    }

    private mutating func columns(_ node: Node, at place: String) -> [String: Flow.Link.Column] {
        guard case .mapping(let mapping) = node else {
            report("columns must be a mapping of columns' names to screens", at: node)
            return [:]
        }
        var columns: [String: Flow.Link.Column] = [:]
        for (key, value) in mapping {
            guard let name = string(key, "a column's name") else { continue }
            let place = "\(place).\(name)"
            note(place, at: key)
            guard let (first, more) = destination(value, "columns", at: place, optional: ["path"]) else { continue }
            let path = more["path"].map { destinations($0, "path", at: "\(place).path") }
            columns[name] = Flow.Link.Column(first, path: path ?? [])
        }
        return columns
    }
}
