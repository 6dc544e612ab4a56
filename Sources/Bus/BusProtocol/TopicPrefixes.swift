internal import BusFormat
package import EventBus

extension MessageFilter {
    /// The prefixes that a SUB socket subscribes to for this filter. Each prefix ends with a dot or is a whole topic,
    /// so that a filter for `event.Playlist` does not match `event.PlaylistsLoaded`.
    package var topicPrefixes: [String] {
        guard let kind else { return MessageKind.allCases.map { "\($0.rawValue)." } }
        guard let name else { return ["\(kind.rawValue)."] }
        let type = MessageType(kind: kind, name: name)
        return [subject.map { Topic(type, subject: $0).name } ?? "\(type)."]
    }
}

extension Sequence<MessageFilter> {
    /// The prefixes of all filters, without duplicates.
    package var topicPrefixes: [String] {
        Set(flatMap(\.topicPrefixes)).sorted()
    }
}
