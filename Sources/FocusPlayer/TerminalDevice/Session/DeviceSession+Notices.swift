internal import Contracts
internal import EventBus
internal import Vocabulary

extension DeviceSession {
    /// What else concerns the person in front of this device.
    func notices(of message: Envelope) throws -> [Output] {
        switch message.type {
        case DomainEvent.URLOpenRequested.type where identity.isAddressed(by: message):
            return [.openURL(try message.decode(DomainEvent.URLOpenRequested.self).url)]
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
