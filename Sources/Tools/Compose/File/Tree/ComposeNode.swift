import OrderedCollections

/// A value of a compose file: variables are expanded, aliases and merge keys are resolved, and it knows where it stands.
struct ComposeNode: Sendable {
    typealias Entries = OrderedDictionary<String, Entry>

    struct Entry: Sendable {
        /// Where the key stands.
        let key: ComposePlace
        /// The key as it is written, which in a list may be with a variable.
        let written: String
        var value: ComposeNode
    }

    struct Scalar: Sendable {
        let text: String
        /// As it is written, with its variables' names. Mistakes show this: a value may be a secret.
        let written: String
        /// What YAML takes for a boolean, as it is not in quotes.
        var isBoolean = false
        /// Its variables cannot be expanded, which has been reported.
        var isUnknown = false
    }

    indirect enum Content: Sendable {
        case null
        case scalar(Scalar)
        case list([ComposeNode])
        case mapping(Entries)
    }

    /// How it goes with what an earlier file says in its place.
    enum Override: Sendable {
        case merge
        /// `!override`
        case replace
        /// `!reset`
        case remove
    }

    let source: ComposeSource
    let line: Int
    var content: Content
    var override = Override.merge

    var place: ComposePlace { ComposePlace(file: source.name, line: line) }

    var isNull: Bool {
        if case .null = content { true } else { false }
    }

    var scalar: Scalar? {
        if case .scalar(let scalar) = content { scalar } else { nil }
    }

    var list: [ComposeNode]? {
        if case .list(let list) = content { list } else { nil }
    }

    var entries: Entries? {
        if case .mapping(let entries) = content { entries } else { nil }
    }

    /// A value at the same place.
    func with(_ content: Content) -> ComposeNode {
        var node = self
        node.content = content
        return node
    }
}
