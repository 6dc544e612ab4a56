internal import Consuming
internal import Contracts
internal import EventBus
internal import Foundation
internal import Navigation
internal import Support

/// Turns what a machine asks for into messages, all caused by the message that it answered.
///
/// Their ids derive from the cause's and from their place among its results: a batch that a crash has undone comes again
/// with the same ids, and a replay tells the same story.
struct EffectMessages {
    /// The machine's.
    private let platform: String
    private let source: String
    private var cause: Attributes
    private var count = 0

    init(platform: String, source: String, cause: Attributes) {
        self.platform = platform
        self.source = source
        self.cause = cause
    }

    /// What effects lead to.
    struct Results {
        var messages: [Envelope] = []
        /// What the state waits for from now on.
        var opened: [Expectation] = []
        /// The rules that matched and could not be applied.
        var failures: [NavigationFailure] = []
    }

    /// - Parameters:
    ///   - snapshot: the state at the end, if it has changed.
    ///   - known: what the state waits for already.
    mutating func results(
        of effects: [Machine.Effect], snapshot: NavigationSnapshot?, session: String,
        without known: Set<Expectation.Object> = []
    ) throws -> Results {
        var results = Results()
        let last = try snapshot.map { try about(Document.NavigationState($0)) }
        // A state goes before what its steps have led to besides, which the machine tells before it.
        var place = 0
        for effect in effects {
            if let message = try message(for: effect) { results.messages.append(message) }
            switch effect {
            case .passed:
                results.messages.insert(results.messages.removeLast(), at: place)
                place = results.messages.count
            case .expectScreenGone(let instance):
                let object = Expectation.Object(session: session, kind: .screen, id: instance)
                results.opened.append(
                    Expectation(object: object, delay: Coordinator.animationTime, cause: cause))
            case .expectAnswer(let attempt, let deadline):
                let object = Expectation.Object(session: session, kind: .attempt, id: attempt)
                results.opened.append(Expectation(object: object, delay: deadline, cause: cause))
            case .began(let attributes): began(attributes)
            case .failed(let failure): results.failures.append(failure)
            default: break
            }
        }
        if let last { results.messages.insert(last, at: place) }
        results.opened.removeAll { known.contains($0.object) }
        for expectation in results.opened {
            results.messages.append(try about(expectation.document(platform: platform)))
        }
        return results
    }

    /// Withdraws the document of what a state no longer waits for.
    mutating func withdrawal(of object: Expectation.Object) -> Envelope {
        let key = Document.Deadline.key(platform, object.kind, object.id)
        return .withdrawal(
            Document.Deadline.type, key: key, source: source, causedBy: cause, platform: platform, id: nextID())
    }

    /// What follows began elsewhere: the cause only let it happen.
    mutating func began(_ attributes: Machine.Attributes) {
        cause.origin = Origin(platform: attributes.platform, device: attributes.device, instance: attributes.instance)
    }

    /// - Returns: nil for an effect that is not done by publishing something.
    mutating func message(for effect: Machine.Effect) throws -> Envelope? {
        switch effect {
        case .openURL(let url):
            try opening(url)
        case .send(let type, let data):
            command(type, data, id: nextID())
        case .ask(let id, let type, let data, let instance, let deadline):
            // Addressed to the screen that waits: when that is dismissed, the work for it ends.
            command(type, data, id: id, instance: instance, lifetime: deadline)
        case .screenDismissed(let instance, let screen):
            try about(DomainEvent.ScreenDismissed(instance: instance, screen: screen), instance: instance)
        case .messageDiscarded(let id, let reason):
            try about(DomainEvent.MessageDiscarded(messageID: id, reason: reason))
        case .commandExpired(let id, let type):
            try expired(id, type)
        case .failed(let failure):
            // An error about an error would feed itself.
            cause.type.kind == .error ? nil : try about(ApplicationError(failure))
        case .passed(let snapshot):
            try about(Document.NavigationState(snapshot))
        case .expectScreenGone, .expectAnswer, .began:
            nil
        }
    }

    /// Its id derives from the command's, as it does when another consumer finds the command expired.
    private mutating func expired(_ id: String, _ type: String) throws -> Envelope? {
        guard let error = MessageType(type).flatMap(ApplicationError.init(expired:)) else { return nil }
        var envelope = try about(error)
        envelope.attributes.id = Envelope.expiryErrorID(of: id)
        envelope.attributes.causationID = id
        return envelope
    }

    /// With the origin of its cause: a URL opens only on the device where it began. What began on no device, because a
    /// tool sent it, opens on this platform's.
    private mutating func opening(_ url: String) throws -> Envelope {
        let origin = Origin(platform: cause.platform ?? platform, device: cause.device, instance: cause.instance)
        return try Envelope(
            DomainEvent.URLOpenRequested(url: url), source: source, causedBy: cause, origin: origin, id: nextID())
    }

    /// A message that concerns this platform, whichever the cause came from: instances of two platforms may have the
    /// same identifier.
    mutating func about(_ message: some Message, instance: String? = nil) throws -> Envelope {
        let device = cause.platform == platform ? cause.device : nil
        let origin = Origin(platform: platform, device: device, instance: instance)
        return try Envelope(message, source: source, causedBy: cause, origin: origin, id: nextID())
    }

    /// A command of the app's vocabulary, which this platform knows by name only.
    ///
    /// It does not carry its cause's instance: what that came from, such as an alert, is often dismissed by now, and the
    /// command must not be taken for one that comes too late.
    private func command(
        _ type: String, _ data: JSONValue, id: String, instance: String? = nil, lifetime: Duration? = nil
    ) -> Envelope? {
        guard let type = MessageType(type) else { return nil }
        let origin = Origin(platform: platform, device: cause.device, instance: instance)
        var attributes = Attributes(type: type, source: source, causedBy: cause, origin: origin, id: id)
        if let lifetime { attributes.expire(after: lifetime) } else { attributes.expireAsUsual() }
        return Envelope(attributes: attributes, data: Data(data.description.utf8))
    }

    private mutating func nextID() -> String {
        defer { count += 1 }
        return DerivedID.make(from: cause.id, platform: platform, name: String(count))
    }
}

extension ApplicationError {
    fileprivate init(_ failure: NavigationFailure) {
        self.init(code: failure.code, message: failure.message, recovery: failure.recovery)
    }
}
