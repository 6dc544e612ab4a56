package import EventBus

extension MessageFilter {
    /// What a SUB socket subscribes to for this filter. Every prefix ends where a topic's parts do, so that
    /// `event.Playlist` does not bring `event.PlaylistsLoaded`.
    package var topicPrefixes: [String] {
        guard let kind else { return MessageKind.allCases.map { "\($0.rawValue)." } }
        guard let name else { return ["\(kind.rawValue)."] }
        let type = MessageType(kind: kind, name: name)
        return [subject.map { Topic(type, subject: $0).name } ?? "\(type)."]
    }
}

extension Sequence<MessageFilter> {
    /// The prefixes of all filters, each once.
    package var topicPrefixes: [String] {
        Set(flatMap(\.topicPrefixes)).sorted()
    }
}
