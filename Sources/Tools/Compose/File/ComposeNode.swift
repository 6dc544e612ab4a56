import OrderedCollections
import Support

/// A value of a compose file and its location. Variables are expanded; aliases and merge keys are resolved.
struct ComposeNode: Sendable {
    typealias Entries = OrderedDictionary<String, Entry>

    struct Entry: Sendable {
        /// The location of the key.
        let key: ComposeLocation
        /// The key as written. If the entry was written as an element of a list, it can contain variables.
        let written: String
        var value: ComposeNode
    }

    struct Scalar: Sendable {
        let text: String
        /// The string as written, before variables are expanded. Errors show this string and not `text`, because a
        /// variable's value may be a secret.
        let written: String
        /// True if YAML reads the string as a boolean.
        var isBoolean = false
        /// True if the variables in the string cannot be expanded. The mistake has been reported.
        var isUnknown = false
    }

    indirect enum Content: Sendable {
        case null
        case scalar(Scalar)
        case list([ComposeNode])
        case mapping(Entries)
    }

    /// The way in which a value is combined with the value of an earlier file.
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

    var location: ComposeLocation { ComposeLocation(file: source.name, line: line) }

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

    /// True if both nodes are written in the same location and have the same values.
    func isSame(as other: ComposeNode) -> Bool {
        guard location == other.location, source.directory == other.source.directory else { return false }
        switch (content, other.content) {
        case (.null, .null): return true
        case (.scalar(let a), .scalar(let b)): return a.text == b.text
        case (.list(let a), .list(let b)):
            return a.count == b.count && zip(a, b).allSatisfy { $0.isSame(as: $1) }
        case (.mapping(let a), .mapping(let b)):
            return a.count == b.count && a.allSatisfy { name, entry in b[name]?.value.isSame(as: entry.value) ?? false }
        default: return false
        }
    }

    /// This node with another content, and the same location.
    func with(_ content: Content) -> ComposeNode {
        var node = self
        node.content = content
        return node
    }
}

/// Converts short forms of values to the long forms of the compose specification. An invalid value is not changed;
/// ``ComposeReader`` reports it.
extension ComposeNode {
    /// The tree of a whole file in its long form.
    var canonicalFile: ComposeNode {
        changing("include") { $0.asList.changingElements { $0.asMapping("path").changing("path", \.asList) } }
            .changing("services") { services in
                services.changingValues { service in
                    service.changing("environment", \.asPairs)
                        .changing("labels", \.asPairs)
                        .changing("depends_on", \.asDependencies)
                        .changing("env_file") { $0.asList.changingElements { $0.asMapping("path") } }
                        .changing("extends") { $0.asMapping("service") }
                        .changing("healthcheck") { $0.changing("test", \.asTest) }
                }
            }
    }

    private var asList: ComposeNode { scalar == nil && entries == nil ? self : with(.list([self])) }

    private func asMapping(_ key: String) -> ComposeNode {
        scalar == nil ? self : with(.mapping([key: Entry(key: location, written: key, value: self)]))
    }

    /// `[A=1, B]` becomes `{A: "1", B: null}`.
    private var asPairs: ComposeNode {
        asMapping { scalar in
            let (text, written) = (scalar.text.splitAtEquals, scalar.written.splitAtEquals)
            let value = text.value.map { Scalar(text: $0, written: written.value ?? scalar.written) }
            return (Scalar(text: text.name, written: written.name), value.map(Content.scalar) ?? .null)
        }
    }

    private var asDependencies: ComposeNode {
        let started = Dependency.Condition.started.rawValue
        return asMapping { name in
            let condition = with(.scalar(Scalar(text: started, written: started)))
            return (name, .mapping(["condition": Entry(key: location, written: "condition", value: condition)]))
        }
    }

    /// Converts a list of plain values to a mapping.
    private func asMapping(_ entry: (Scalar) -> (key: Scalar, content: Content)) -> ComposeNode {
        guard let list, list.allSatisfy({ $0.scalar != nil }) else { return self }
        var entries: Entries = [:]
        for node in list {
            guard let (key, content) = node.scalar.map(entry) else { continue }
            entries[key.text] = Entry(key: node.location, written: key.written, value: node.with(content))
        }
        return with(.mapping(entries))
    }

    private var asTest: ComposeNode {
        guard scalar != nil else { return self }
        return with(.list([with(.scalar(Scalar(text: "CMD-SHELL", written: "CMD-SHELL"))), self]))
    }

    private func changing(_ key: String, _ change: (ComposeNode) -> ComposeNode) -> ComposeNode {
        guard var entries, let entry = entries[key] else { return self }
        entries[key]?.value = change(entry.value)
        return with(.mapping(entries))
    }

    private func changingValues(_ change: (ComposeNode) -> ComposeNode) -> ComposeNode {
        guard let entries else { return self }
        return with(.mapping(entries.mapValues { Entry(key: $0.key, written: $0.written, value: change($0.value)) }))
    }

    private func changingElements(_ change: (ComposeNode) -> ComposeNode) -> ComposeNode {
        list.map { with(.list($0.map(change))) } ?? self
    }
}

extension String {
    fileprivate var splitAtEquals: (name: String, value: String?) {
        cut(at: "=").map { (String($0.before), String($0.after)) } ?? (self, nil)
    }
}

/// The merge rules of the compose specification (13-merge).
extension ComposeNode {
    /// The keys of the lists that a later file replaces. To all other lists, a later file adds its elements.
    private static let replacedLists: Set = ["command", "entrypoint", "test"]
    /// The keys of lists to which a later file adds only new elements.
    private static let sets: Set = ["profiles", "x-ports"]
    /// The keys of mappings in which a null value has a meaning and so replaces an earlier value. In `environment`, a
    /// null value passes a variable on.
    private static let pairs: Set = ["environment", "labels"]

    /// This value, overridden by the value of a later file.
    ///
    /// - Parameters:
    ///   - other: the later file's value.
    ///   - key: the key of both values.
    func overridden(by other: ComposeNode, under key: String = "") -> ComposeNode {
        guard other.override == .merge else { return other }
        switch (content, other.content) {
        case (_, .null):
            return self
        case (.list(let list), .list(let more)) where !Self.replacedLists.contains(key):
            return other.with(.list(Self.sets.contains(key) ? Self.union(list, more) : list + more))
        case (.mapping(let entries), .mapping(let more)):
            return with(.mapping(Self.merged(entries, more, arePairs: Self.pairs.contains(key))))
        default:
            return other
        }
    }

    private static func merged(_ entries: Entries, _ more: Entries, arePairs: Bool) -> Entries {
        var result = entries
        for (name, entry) in more {
            guard let earlier = entries[name], !arePairs || entry.value.override == .remove else {
                result[name] = entry
                continue
            }
            result[name]?.value = earlier.value.overridden(by: entry.value, under: name)
        }
        return result
    }

    /// This value without the entries that `!reset` removes.
    var pruned: ComposeNode {
        switch content {
        case .mapping(let entries):
            let kept = entries.filter { $0.value.value.override != .remove }
            return with(.mapping(kept.mapValues { .init(key: $0.key, written: $0.written, value: $0.value.pruned) }))
        case .list(let list):
            return with(.list(list.map(\.pruned)))
        case .null, .scalar:
            return self
        }
    }

    private static func union(_ list: [ComposeNode], _ more: [ComposeNode]) -> [ComposeNode] {
        let known = Set(list.compactMap(\.scalar?.text))
        return list + more.filter { !known.contains($0.scalar?.text ?? "") }
    }
}
