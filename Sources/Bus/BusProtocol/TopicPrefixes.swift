internal import BusFormat
package import EventBus

extension MessageFilter {
    /// The prefixes that a SUB socket subscribes to for this filter. Each prefix ends with a dot or is a whole topic,
    /// so that a filter for `event.Playlist` does not match `event.PlaylistsLoaded`.
    package var topicPrefixes: [String] {
        switch self {
        case .all, .subject: MessageKind.allCases.map { "\($0.rawValue)." }
        case .kind(let kind, _): ["\(kind.rawValue)."]
        case .type(let type, let subject): [subject.map { Topic(type, subject: $0).name } ?? "\(type)."]
        }
    }
}

extension Sequence<MessageFilter> {
    /// The prefixes of all filters, without duplicates.
    package var topicPrefixes: [String] {
        Set(flatMap(\.topicPrefixes)).sorted()
    }
}
