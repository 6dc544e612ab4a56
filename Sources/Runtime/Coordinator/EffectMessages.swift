internal import Contracts
internal import EventBus
internal import Foundation
internal import Navigation

/// Turns what a machine asks for into messages, all caused by the message that it answered.
struct EffectMessages {
    /// The machine's.
    let platform: String
    let source: String
    let commandLifetime: Duration
    let cause: Envelope

    /// - Returns: nil for an effect that is not done by publishing something.
    func message(for effect: Machine.Effect) throws -> Envelope? {
        switch effect {
        case .openURL(let url):
            try opening(url)
        case .send(let type, let data):
            command(type, data)
        case .screenDismissed(let instance, let screen):
            try about(DomainEvent.ScreenDismissed(instance: instance, screen: screen), instance: instance)
        case .messageDiscarded(let id, let reason):
            try about(DomainEvent.MessageDiscarded(messageID: id, reason: reason))
        case .failed(let failure):
            // An error about an error would feed itself.
            cause.type.kind == .error ? nil : try about(ApplicationError(failure))
        case .expectScreenGone:
            nil
        }
    }

    /// With the origin of its cause: a URL opens only on the device where it began. What began on no device, because a
    /// tool sent it, opens on this platform's.
    private func opening(_ url: String) throws -> Envelope {
        var envelope = try Envelope(DomainEvent.URLOpenRequested(url: url), source: source, causedBy: cause)
        envelope.attributes.platform = cause.attributes.platform ?? platform
        return envelope
    }

    /// A message that concerns this platform, whichever the cause came from: instances of two platforms may have the
    /// same identifier.
    func about(_ message: some Message, instance: String? = nil) throws -> Envelope {
        var envelope = try Envelope(message, source: source, causedBy: cause)
        envelope.attributes.platform = platform
        if cause.attributes.platform != platform { envelope.attributes.device = nil }
        envelope.attributes.instance = instance
        return envelope
    }

    /// A command of the app's vocabulary, which this platform knows by name only.
    ///
    /// It carries no instance: what the cause came from, such as an alert, is often dismissed by now, and the command
    /// must not be taken for one that comes too late.
    private func command(_ type: String, _ data: JSONValue) -> Envelope? {
        guard let type = MessageType(type) else { return nil }
        var attributes = Attributes(type: type, source: source, subject: cause.subject)
        attributes.correlationID = cause.attributes.correlationID
        attributes.causationID = cause.id
        attributes.traceparent = cause.attributes.traceparent
        attributes.platform = platform
        attributes.device = cause.attributes.device
        attributes.expire(after: commandLifetime)
        return Envelope(attributes: attributes, data: Data(data.description.utf8))
    }
}

extension ApplicationError {
    fileprivate init(_ failure: NavigationFailure) {
        self.init(code: failure.code, message: failure.message, recovery: failure.recovery)
    }
}
