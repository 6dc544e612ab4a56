package import EventBus
internal import Support

/// A selection of messages. A message matches if it fits every property. Messages about metrics match only if `types`
/// is not empty.
package struct MessageSelection: Hashable, Sendable {
    /// The allowed kinds. Empty for all.
    package var kinds: [MessageKind]
    /// The type must match one of these patterns. Empty for all types.
    package var types: [MessagePattern]
    /// The type must match none of these patterns.
    package var excluded: [MessagePattern]
    /// The session. Nil for all sessions.
    package var subject: String?
    /// The source must match one of these patterns. Empty for all sources.
    package var sources: [SourcePattern]
    /// The id of the message that began the story. Nil for all stories.
    package var correlationID: String?
    /// All these expressions must be true for the message.
    package var conditions: [WhereExpression]

    package init(
        kinds: [MessageKind] = [], types: [MessagePattern] = [], excluded: [MessagePattern] = [],
        subject: String? = nil, sources: [SourcePattern] = [], correlationID: String? = nil,
        conditions: [WhereExpression] = []
    ) {
        self.kinds = kinds
        self.types = types
        self.excluded = excluded
        self.subject = subject
        self.sources = sources
        self.correlationID = correlationID
        self.conditions = conditions
    }

    package func matches(_ message: Envelope) -> Bool {
        guard matches(message.type), !types.isEmpty || !message.isAboutMetrics,
            subject == nil || subject == message.subject,
            sources.isEmpty || sources.contains(where: { $0.matches(message.attributes.source) }),
            correlationID == nil || correlationID == message.attributes.correlationID
        else { return false }
        guard !conditions.isEmpty else { return true }
        let values = MessageValues(message)
        return conditions.allSatisfy { $0.matches(values) }
    }

    /// True if messages of this type can match. Only `kinds`, `types` and `excluded` are checked.
    package func matches(_ type: MessageType) -> Bool {
        !excluded.contains { $0.matches(type) } && (kinds.isEmpty || kinds.contains(type.kind))
            && (types.isEmpty || types.contains { $0.matches(type) })
    }

    /// The filters for a subscription. They match at least the messages that the selection matches.
    package var filters: [MessageFilter] {
        let ofTypes = types.isEmpty ? [MessageFilter.all] : types.flatMap(\.filters)
        let ofKinds = kinds.isEmpty ? ofTypes : ofTypes.flatMap { $0.limited(to: kinds) }
        // A kind and a type can exclude each other, such as event and command.*. Then no message matches, but a
        // subscription needs a filter nevertheless.
        let filters = ofKinds.isEmpty ? ofTypes : ofKinds
        return filters.map { $0.with(subject: subject) }
    }
}

extension MessageFilter {
    fileprivate func limited(to kinds: [MessageKind]) -> [MessageFilter] {
        guard let kind else { return kinds.map { .kind($0) } }
        return kinds.contains(kind) ? [self] : []
    }
}

/// A pattern for message types: `command.PlaylistSelected`, `command.*`, `event.Playlist*`, `*.ApplicationError`.
package struct MessagePattern: Hashable, Sendable {
    /// Nil for all kinds.
    package let kind: MessageKind?
    /// The name, with the wildcards `*` and `?`.
    package let name: String
    private let glob: Glob

    /// Reads a kind and a name, a kind alone (all types of that kind), or a name alone (the types of that name in all
    /// kinds).
    /// - Returns: Nil if the text has another form.
    package init?(_ text: String) {
        let parts = text.split(scalar: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 2: name = parts[1]
        default: name = MessageKind(rawValue: text) == nil ? text : "*"
        }
        glob = Glob(name)
        kind = MessageKind(rawValue: parts[0])
        let namesKind = kind != nil || parts.count == 1 || parts[0] == "*"
        guard namesKind, name.wholeMatch(of: #/[A-Za-z0-9_*?-]+/#.byScalar) != nil else { return nil }
    }

    package func matches(_ type: MessageType) -> Bool {
        (kind == nil || kind == type.kind) && glob.matches(type.name)
    }

    /// The narrowest filters that the bus supports for the pattern.
    var filters: [MessageFilter] {
        if name.contains(scalarOf: "*?") { return [kind.map { .kind($0) } ?? .all] }
        return (kind.map { [$0] } ?? MessageKind.allCases).map { .type(MessageType(kind: $0, name: name)) }
    }
}

extension MessagePattern: CustomStringConvertible {
    package var description: String { "\(kind?.rawValue ?? "*").\(name)" }
}

/// A pattern for sources: `music-service` matches all processes with that name, `music-service/ab*` matches some of
/// them. The wildcards `*` and `?` can be anywhere in the pattern.
package struct SourcePattern: Hashable, Sendable {
    private let glob: Glob
    private let namesInstance: Bool

    package init(_ text: String) {
        glob = Glob(text)
        namesInstance = text.unicodeScalars.contains("/")
    }

    package func matches(_ source: String) -> Bool {
        namesInstance ? glob.matches(source) : glob.matches(source.cut(at: "/")?.before ?? source[...])
    }
}

/// A pattern in which `*` matches any string, `?` matches one Unicode scalar, and every other scalar matches itself.
///
/// The time to match is at most proportional to the length of the pattern times the length of the text.
package struct Glob: Hashable, Sendable {
    private let pattern: [Unicode.Scalar]

    package init(_ pattern: String) {
        self.pattern = Array(pattern.unicodeScalars)
    }

    package func matches(_ text: some StringProtocol) -> Bool {
        let text = text.unicodeScalars
        var (place, index) = (0, text.startIndex)
        var star: (place: Int, index: String.Index)?
        while index < text.endIndex {
            let scalar = place < pattern.count ? pattern[place] : nil
            if scalar == "*" {
                star = (place, index)
                place += 1
            } else if scalar == "?" || scalar == text[index] {
                place += 1
                index = text.index(after: index)
            } else if let last = star {
                // The last star takes one more scalar. It is not necessary to go back to an earlier star.
                index = text.index(after: last.index)
                (place, star) = (last.place + 1, (last.place, index))
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { scalar in scalar == "*" }
    }
}
