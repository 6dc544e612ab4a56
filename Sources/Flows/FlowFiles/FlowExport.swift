public import Navigation
internal import Support

extension Flow {
    /// The flow as a YAML file. Reading this file gives an equal flow.
    public var yaml: String {
        guard case .mapping(let members) = YAMLNode(flow: json) else { return "" }
        return members.enumerated()
            .map { index, member in
                let text = YAMLNode.mapping([member])
                // Except for the first key, an empty line precedes a key whose value begins on the next line.
                guard case .block(let lines) = text.text, index > 0, lines.count > 1 else { return text.description }
                let isOfRules = ["transitions", "links"].contains(member.0)
                return "\n" + (isOfRules ? Self.spaced(lines) : lines).map { "\($0)\n" }.joined()
            }
            .joined()
    }

    /// Inserts an empty line between two rules or two links.
    private static func spaced(_ lines: [String]) -> [String] {
        lines.enumerated().flatMap { index, line in index > 1 && line.begins(with: "  - ") ? ["", line] : [line] }
    }
}

/// A value with the order and the form in which it is written as YAML.
indirect enum YAMLNode {
    /// No value after the key.
    case nothing
    case scalar(JSONValue)
    case list([YAMLNode])
    case mapping([(String, YAMLNode)])
}

extension YAMLNode: CustomStringConvertible {
    enum Text {
        /// Text that follows a key on the same line.
        case line(String)
        /// Lines that follow below the key.
        case block([String])
    }

    /// The maximum length in characters of a list that is written on one line. A longer list has one line for each
    /// element.
    private static let lineLimit = 80

    /// The YAML text. Each line ends with a newline.
    var description: String {
        switch text {
        case .line(let line): line + "\n"
        case .block(let lines): lines.map { "\($0)\n" }.joined()
        }
    }

    var text: Text {
        switch self {
        case .nothing: .line("")
        case .scalar(let value): .line(YAMLScalar.text(of: value))
        case .list(let elements):
            line(of: elements).map { .line($0) } ?? .block(elements.flatMap { $0.lines(ofElement: "- ") })
        case .mapping(let members) where members.isEmpty: .line("{}")
        case .mapping(let members): .block(members.flatMap { $1.lines(under: YAMLScalar.text(of: .string($0))) })
        }
    }

    private func lines(under key: String) -> [String] {
        switch text {
        case .line(""): ["\(key):"]
        case .line(let text): ["\(key): \(text)"]
        case .block(let lines): ["\(key):"] + lines.map { "  \($0)" }
        }
    }

    private func lines(ofElement dash: String) -> [String] {
        switch text {
        case .line(let text): [dash + text]
        case .block(let lines): lines.enumerated().map { index, line in (index == 0 ? dash : "  ") + line }
        }
    }

    /// The list on one line. Nil if the line is too long, or if an element is not a scalar or may need additional
    /// quotes there.
    private func line(of elements: [YAMLNode]) -> String? {
        var texts: [String] = []
        for element in elements {
            guard case .scalar(let value) = element, YAMLScalar.isPlainInLists(value) else { return nil }
            texts.append(YAMLScalar.text(of: value))
        }
        let line = "[\(texts.joined(separator: ", "))]"
        return line.count <= Self.lineLimit ? line : nil
    }
}

// The conversion of a flow's JSON (`Flow.json`) to the shorter forms of YAML. Keys that are not in `order` are written
// after the others.
extension YAMLNode {
    /// The context of a value. The same name can be a key of the flow language or a field of an app's own data.
    private enum Context {
        /// The flow language. The key above the value determines its short forms.
        case language(under: String)
        /// A mapping from names, which the flow's author chooses, to parts of the flow.
        case names
        /// A mapping from paths of message fields to their conditions.
        case fields
        /// Data of the app.
        case data

        init(under key: String) {
            switch key {
            case "screens", "flows": self = .names
            case "where": self = .fields
            case "arguments", "commands", "data", "finish": self = .data
            default: self = .language(under: key)
            }
        }
    }

    /// The keys in the order in which they are written.
    private static let order = [
        "name", "version", "platform", "start", "presentations", "requests", "ignores", "commands", "screens", "flows",
        "transitions", "links", "properties",
        "on", "after", "url", "where", "when", "unless", "origin", "guard", "to", "otherwise", "redirect", "action",
        "send", "park", "over",
        "ask", "accept", "reject", "deadline", "meanwhile", "rejected", "expired", "type", "data",
        "screen", "flow", "arguments", "count", "from", "column", "container", "tabs", "history", "style", "detents",
        "dragIndicator", "interactiveDismissal", "id", "title", "message", "role", "buttons", "sends", "gate", "once",
        "back", "do",
        "root", "top", "columns", "path", "presented", "present", "shown", "tab",
        "always", "never", "canReach",
        "not", "exists", "atLeast", "atMost", "anyOf",
    ]

    /// The keys under which a single element may be written instead of a list of one.
    private static let lists: Set = ["root", "top", "path", "presented", "shown", "tab", "replacePath", "send"]

    /// Converts the JSON of a flow (`Flow.json`).
    init(flow: JSONValue) {
        self.init(flow, .language(under: ""))
    }

    private init(_ value: JSONValue, _ context: Context) {
        switch (value, context) {
        case (.object(let members), .language(let key)):
            if members.count == 1, let target = members["pop"].flatMap(Self.popTo) {
                self = .mapping([("popTo", YAMLNode(target, .language(under: "popTo")))])
            } else {
                self = Self.short(members, under: key) ?? Self.mapping(members) { Context(under: $0) }
            }
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

    /// The value of `popTo` for the value of `pop` with the same meaning. Nil if there is none.
    private static func popTo(_ pop: JSONValue) -> JSONValue? {
        if let screen = pop.stringValue { return screen == Flow.senderWord ? nil : pop }
        guard var members = pop.objectValue, let screen = members.removeValue(forKey: "to") else { return nil }
        members["screen"] = screen
        return .object(members)
    }

    /// The short form of an object that consists of a name only. Nil if there is none.
    private static func short(_ members: [String: JSONValue], under key: String) -> YAMLNode? {
        if key == "tabs", members.count == 2, let name = members["name"], name == members["screen"] {
            return .scalar(name)
        }
        guard members.count == 1, let member = members.first else { return nil }
        switch (member.key, key) {
        case ("screen", _), ("type", "send"), ("type", "ask"), ("on", "accept"), ("on", "reject"):
            return YAMLNode(member.value, .data)
        default: return nil
        }
    }
}
