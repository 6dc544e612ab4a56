internal import EventBus
internal import Monitor
internal import Support
internal import WebPage

extension MessageSelection {
    /// Reads a selection of the page: an object with `kinds`, `types`, `exclude`, `session`, `source`, `story` and
    /// `where`, all of which may be missing.
    /// - Throws: ``RequestError`` that names the part that is not valid.
    init(page json: JSONValue) throws(RequestError) {
        guard let members = json.objectValue else { throw .malformed("the selection is not a JSON object") }
        let known: Set = ["kinds", "types", "exclude", "session", "source", "story", "where"]
        if let unknown = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw .malformed("the selection has no member '\(unknown)'".printable)
        }
        self.init(
            kinds: try Self.list("kinds", members) { MessageKind(rawValue: $0) },
            types: try Self.list("types", members) { MessagePattern($0) },
            excluded: try Self.list("exclude", members) { MessagePattern($0) },
            subject: try Self.text("session", members),
            sources: try Self.list("source", members) { $0.isEmpty ? nil : SourcePattern($0) },
            correlationID: try Self.text("story", members), conditions: try Self.conditions(members))
        guard !kinds.contains(.query), !types.contains(where: { $0.kind == .query }) else {
            throw .malformed("a query goes only to the process that answers it, so none can be selected")
        }
    }

    /// The maximum number of elements of a list.
    private static let limit = 64

    private static func texts(
        _ name: String, _ members: [String: JSONValue]
    ) throws(RequestError) -> [String] {
        switch members[name] {
        case nil, .null?: return []
        case .array(let elements)?:
            let texts = elements.compactMap(\.stringValue)
            guard texts.count == elements.count, texts.count <= limit else { break }
            return texts
        default: break
        }
        throw .malformed("'\(name)' has to be a list of at most \(limit) strings")
    }

    private static func list<Element>(
        _ name: String, _ members: [String: JSONValue], _ read: (String) -> Element?
    ) throws(RequestError) -> [Element] {
        var elements: [Element] = []
        for text in try texts(name, members) {
            guard let element = read(text) else {
                throw .malformed("'\(text)' in '\(name)' is not valid; write a pattern such as command.*".printable)
            }
            elements.append(element)
        }
        return elements
    }

    private static func text(_ name: String, _ members: [String: JSONValue]) throws(RequestError) -> String? {
        switch members[name] {
        case nil, .null?: return nil
        case .string(let text)? where !text.isEmpty: return text
        default: throw .malformed("'\(name)' has to be a string that is not empty")
        }
    }

    private static func conditions(_ members: [String: JSONValue]) throws(RequestError) -> [WhereExpression] {
        var conditions: [WhereExpression] = []
        for text in try texts("where", members) {
            do {
                conditions.append(try WhereExpression(text))
            } catch {
                throw .malformed("\(error)".printable)
            }
        }
        return conditions
    }
}
