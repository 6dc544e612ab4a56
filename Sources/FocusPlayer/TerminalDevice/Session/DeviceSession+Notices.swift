internal import Contracts
internal import EventBus
internal import Vocabulary

extension DeviceSession {
    /// Another root is another part of the app: after a log-in nobody wants its URL any more, which takes a good part of
    /// a small terminal. It stays if both come of one message.
    mutating func leaveRoot(by message: Envelope) {
        guard mode == .interactive, message.attributes.causationID != requestCause else { return }
        requestedURL = nil
    }

    /// What else concerns the person in front of this device.
    mutating func notices(of message: Envelope) throws -> [Output] {
        switch message.type {
        case DomainEvent.URLOpenRequested.type where identity.isAddressed(by: message):
            let url = try message.decode(DomainEvent.URLOpenRequested.self).url
            requestedURL = OpenableURL(url)
            requestCause = message.attributes.causationID
            return [.openURL(url)]
        case DomainEvent.MessageDiscarded.type:
            let discarded = try message.decode(DomainEvent.MessageDiscarded.self)
            return discarded.messageID == script.lastPickID ? [.say("That came too late: \(discarded.reason)")] : []
        case DomainEvent.PlaybackStarted.type:
            return [.say("Spotify plays.")]
        default:
            return []
        }
    }
}
