// A flow's canonical JSON says everything in one way, at length; people have shorter ones.
//
// This knows the language's words, not its structure: what flows learn to say is written too, behind what has a place.
extension YAMLNode {
    /// What a value belongs to: names in an app's own data mean nothing in the language of flows.
    private enum Context {
        /// The language; the key that the value stands under says what is short for it.
        case language(under: String)
        /// Things of the flow by the names that it gives them.
        case names
        /// Fields of messages by their paths, and what they must be.
        case fields
        /// An app's own data.
        case data

        init(under key: String) {
            switch key {
            case "screens", "flows": self = .names
            case "where": self = .fields
            case "arguments", "data", "finish": self = .data
            default: self = .language(under: key)
            }
        }
    }

    /// The keys in the order in which docs/flows.md explains them.
    private static let order = [
        "name", "version", "platform", "start", "presentations", "requests", "ignores", "screens", "flows",
        "transitions", "links",
        "on", "url", "where", "when", "unless", "origin", "guard", "do", "to", "send", "park", "over",
        "ask", "accept", "reject", "deadline", "meanwhile", "rejected", "expired", "type", "data",
        "screen", "flow", "arguments", "count", "column", "container", "tabs", "style", "detents", "dragIndicator",
        "interactiveDismissal", "id", "title", "message", "role", "buttons", "sends", "gate",
        "root", "top", "columns", "path", "presented", "present", "shown", "tab",
        "not", "exists", "atLeast", "atMost", "anyOf",
    ]

    /// Where one element may stand for a list of one.
    private static let lists: Set = ["root", "top", "path", "presented", "shown", "tab", "replacePath", "send"]

    /// Writes a flow's canonical JSON.
    init(flow: JSONValue) {
        self.init(flow, .language(under: ""))
    }

    private init(_ value: JSONValue, _ context: Context) {
        switch (value, context) {
        case (.object(let members), .language(let key)):
            self = Self.short(members, under: key) ?? Self.mapping(members) { Context(under: $0) }
        case (.object(let members), .names):
            self = .mapping(
                Self.sorted(members).map { ($0, $1 == [:] ? .nothing : YAMLNode($1, .language(under: ""))) })
        case (.object(let members), .fields):
            self = .mapping(Self.sorted(members).map { ($0, Self(match: $1)) })
        case (.object(let members), .data): self = .mapping(Self.sorted(members).map { ($0, Self($1, .data)) })
        case (.array(let elements), .language(let key)) where elements.count == 1 && Self.lists.contains(key):
            self.init(elements[0], context)
        case (.array(let elements), _): self = .list(elements.map { YAMLNode($0, context) })
        default: self = .scalar(value)
        }
    }

    private init(match value: JSONValue) {
        self = value.objectValue.map { Self.mapping($0) { _ in .data } } ?? Self(value, .data)
    }

    private static func sorted(_ members: [String: JSONValue]) -> [(String, JSONValue)] {
        members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static func mapping(_ members: [String: JSONValue], _ context: (String) -> Context) -> YAMLNode {
        let ranks = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
        let ranked = members.map { (rank: ranks[$0] ?? order.endIndex, key: $0, value: $1) }
        return .mapping(
            ranked.sorted { ($0.rank, $0.key) < ($1.rank, $1.key) }
                .map { ($0.key, YAMLNode($0.value, context($0.key))) })
    }

    /// A name that stands for an object that holds nothing else.
    private static func short(_ members: [String: JSONValue], under key: String) -> YAMLNode? {
        if key == "tabs", members.count == 2, let name = members["name"], name == members["screen"] {
            return .scalar(name)
        }
        guard members.count == 1, let member = members.first else { return nil }
        switch (member.key, key) {
        case ("screen", _), ("type", "send"), ("type", "ask"), ("on", "accept"), ("on", "reject"):
            return .scalar(member.value)
        default: return nil
        }
    }
}
