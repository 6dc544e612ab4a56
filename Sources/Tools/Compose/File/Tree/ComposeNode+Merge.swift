import OrderedCollections

/// The merge rules of the compose specification (13-merge).
extension ComposeNode {
    /// Lists that a later file replaces; it adds to all others.
    private static let replacedLists: Set = ["command", "entrypoint", "test"]
    /// Lists that are sets.
    private static let sets: Set = ["profiles", "x-ports"]
    /// Mappings in which a key without a value says something, namely that a variable is passed on.
    private static let pairs: Set = ["environment", "labels"]

    /// What two files say together.
    ///
    /// - Parameters:
    ///   - other: what the later one says.
    ///   - key: what it stands under.
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
            // What is reset is gone, and the place where it stands is told no more.
            result[name]?.value = earlier.value.overridden(by: entry.value, under: name)
        }
        return result.filter { $0.value.value.override != .remove }
    }

    private static func union(_ list: [ComposeNode], _ more: [ComposeNode]) -> [ComposeNode] {
        let known = Set(list.compactMap(\.scalar?.text))
        return list + more.filter { !known.contains($0.scalar?.text ?? "") }
    }
}
