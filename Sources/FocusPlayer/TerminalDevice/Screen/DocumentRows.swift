internal import Navigation

/// JSON as lines for people: `name: Ann`, what is inside of something indented.
enum DocumentRows {
    /// How deep one can still read on a terminal; what is deeper is JSON on one line.
    private static let depthLimit = 3
    /// Of one list or object; more is for `segue get`.
    private static let countLimit = 20

    static func rows(_ value: JSONValue, depth: Int = 0) -> [String] {
        let members: [(String, JSONValue)] =
            switch value {
            case .object(let object): object.sorted { $0.key < $1.key }.map { ("\($0.key):", $0.value) }
            case .array(let elements): elements.map { ("-", $0) }
            default: [("", value)]
            }
        let indent = String(repeating: "  ", count: depth)
        return members.prefix(countLimit).flatMap { name, value -> [String] in
            if let text = text(value, depth: depth) { return ["\(indent)\(name) \(text)"] }
            return ["\(indent)\(name)"] + rows(value, depth: depth + 1)
        } + (members.count > countLimit ? ["\(indent)… \(members.count - countLimit) more"] : [])
    }

    /// What stands beside a name; nil for what takes lines of its own.
    private static func text(_ value: JSONValue, depth: Int) -> String? {
        switch value {
        case .string(let text): text
        case .object(let members) where !members.isEmpty && depth < depthLimit: nil
        case .array(let elements) where !elements.isEmpty && depth < depthLimit: nil
        default: value.description
        }
    }
}
