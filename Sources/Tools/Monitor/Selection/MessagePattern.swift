package import EventBus

/// Which types of message: `command.PlaylistSelected`, `command.*`, `event.Playlist*`, `*.ApplicationError`.
package struct MessagePattern: Hashable, Sendable {
    /// `nil` for any.
    package let kind: MessageKind?
    /// With the wildcards `*` and `?`.
    package let name: String
    private let glob: Glob

    /// A kind alone stands for all its types, a name alone for the types of that name.
    /// - Returns: `nil` when no type could match.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 2: name = parts[1]
        default: name = MessageKind(rawValue: text) == nil ? text : "*"
        }
        glob = Glob(name)
        kind = MessageKind(rawValue: parts[0])
        let namesKind = kind != nil || parts.count == 1 || parts[0] == "*"
        guard namesKind, name.wholeMatch(of: #/[A-Za-z0-9_*?-]+/#) != nil else { return nil }
    }

    package func matches(_ type: MessageType) -> Bool {
        (kind == nil || kind == type.kind) && glob.matches(type.name)
    }

    /// The narrowest that the bus can filter by itself.
    var filters: [MessageFilter] {
        if name.contains(where: { "*?".contains($0) }) { return [MessageFilter(kind: kind)] }
        return (kind.map { [$0] } ?? MessageKind.allCases).map { MessageFilter(kind: $0, name: name) }
    }
}

extension MessagePattern: CustomStringConvertible {
    package var description: String { "\(kind?.rawValue ?? "*").\(name)" }
}
