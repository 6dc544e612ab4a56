package import EventBus

/// Which messages somebody wants to see: what is said here has all to be true of them.
package struct MessageSelection: Hashable, Sendable {
    /// One of these; empty for any.
    package var kinds: [MessageKind]
    /// One of these; empty for any.
    package var types: [MessagePattern]
    /// `nil` for any.
    package var subject: String?
    /// One of these; empty for any.
    package var sources: [SourcePattern]
    /// The story that they belong to; `nil` for any.
    package var correlationID: String?
    /// All of these.
    package var conditions: [WhereExpression]

    package init(
        kinds: [MessageKind] = [], types: [MessagePattern] = [], subject: String? = nil, sources: [SourcePattern] = [],
        correlationID: String? = nil, conditions: [WhereExpression] = []
    ) {
        self.kinds = kinds
        self.types = types
        self.subject = subject
        self.sources = sources
        self.correlationID = correlationID
        self.conditions = conditions
    }

    package func matches(_ message: Envelope) -> Bool {
        guard matches(message.type), subject == nil || subject == message.subject,
            sources.isEmpty || sources.contains(where: { $0.matches(message.attributes.source) }),
            correlationID == nil || correlationID == message.attributes.correlationID
        else { return false }
        guard !conditions.isEmpty else { return true }
        let values = MessageValues(message)
        return conditions.allSatisfy { $0.matches(values) }
    }

    /// Whether it takes messages of this type, as far as the type says.
    func matches(_ type: MessageType) -> Bool {
        (kinds.isEmpty || kinds.contains(type.kind)) && (types.isEmpty || types.contains { $0.matches(type) })
    }

    /// What to subscribe to: at least all that matches.
    package var filters: [MessageFilter] {
        let ofTypes = types.isEmpty ? [MessageFilter()] : types.flatMap(\.filters)
        let ofKinds = kinds.isEmpty ? ofTypes : ofTypes.flatMap { $0.limited(to: kinds) }
        // Of what has nothing in common, as events among commands, there is nothing; yet a subscription has a filter.
        let filters = ofKinds.isEmpty ? ofTypes : ofKinds
        return filters.map { MessageFilter(kind: $0.kind, name: $0.name, subject: subject) }
    }
}

extension MessageFilter {
    fileprivate func limited(to kinds: [MessageKind]) -> [MessageFilter] {
        guard let kind else { return kinds.map { MessageFilter(kind: $0, name: name) } }
        return kinds.contains(kind) ? [self] : []
    }
}

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

/// Who published: `music-service` for all processes of that name, `music-service/ab*` for some, with wildcards anywhere.
package struct SourcePattern: Hashable, Sendable {
    private let glob: Glob
    private let namesInstance: Bool

    package init(_ text: String) {
        glob = Glob(text)
        namesInstance = text.contains("/")
    }

    package func matches(_ source: String) -> Bool {
        namesInstance ? glob.matches(source) : glob.matches(source.prefix { $0 != "/" })
    }
}

/// A pattern in which `*` stands for any text, `?` for any one character, and all else for itself.
///
/// It takes at most the product of both lengths. To fnmatch(3) brackets are signs as well, and without a locale `?` is a byte.
package struct Glob: Hashable, Sendable {
    private let pattern: [Character]

    package init(_ pattern: String) {
        self.pattern = Array(pattern)
    }

    package func matches(_ text: some StringProtocol) -> Bool {
        var (place, index) = (0, text.startIndex)
        var star: (place: Int, index: String.Index)?
        while index < text.endIndex {
            let sign = place < pattern.count ? pattern[place] : nil
            if sign == "*" {
                star = (place, index)
                place += 1
            } else if sign == "?" || sign == text[index] {
                place += 1
                index = text.index(after: index)
            } else if let last = star {
                // The last star takes one character more: an earlier one would gain nothing by it.
                index = text.index(after: last.index)
                (place, star) = (last.place + 1, (last.place, index))
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
