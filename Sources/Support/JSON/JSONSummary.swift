extension JSONValue {
    /// The maximum length of a string in a summary, in characters.
    private static let stringLimit = 40
    /// The maximum number of members or elements in a summary.
    private static let countLimit = 6

    /// The value on one line, for a person: `{minutes: 1, name: Deep Work}`. Long strings are cut, and of large or nested
    /// arrays and objects only the size is given. Control characters are escaped.
    package var summary: String { summary(isNested: false) }

    private func summary(isNested: Bool) -> String {
        switch self {
        case .string(let text): Self.cut(text)
        case .array(let elements) where isNested || elements.count > Self.countLimit: "[\(elements.count)]"
        case .array(let elements): "[\(elements.map { $0.summary(isNested: true) }.joined(separator: ", "))]"
        case .object(let members) where isNested && !members.isEmpty: "{…}"
        case .object(let members): "{\(Self.list(members))}"
        case .null, .bool, .integer, .number: description
        }
    }

    private static func list(_ members: [String: JSONValue]) -> String {
        let sorted = members.sorted { $0.key < $1.key }
        let shown = sorted.prefix(countLimit).map { "\(cut($0.key)): \($0.value.summary(isNested: true))" }
        return (sorted.count > countLimit ? shown + ["…"] : shown).joined(separator: ", ")
    }

    private static func cut(_ text: String) -> String {
        let start = text.prefix(stringLimit)
        return (start.endIndex == text.endIndex ? text : "\(start)…").printable
    }
}
