internal import Consuming
internal import Contracts
internal import EventBus
internal import Foundation
internal import Navigation
internal import Support

/// Turns the effects of a machine into messages.
///
/// Most ids are derived from the id of the cause and the message's number among the results.
struct EffectMessages {
    /// The platform of the machine.
    private let platform: String
    private let source: String
    private var cause: Attributes
    private var count = 0

    init(platform: String, source: String, cause: Attributes) {
        self.platform = platform
        self.source = source
        self.cause = cause
    }

    struct Results {
        var messages: [Envelope] = []
        /// The deadlines of the screens and attempts that the state has begun to wait for.
        var opened: [PendingDeadline] = []
        /// The errors of rules that matched but could not be applied.
        var failures: [NavigationFailure] = []
    }

    /// - Parameters:
    ///   - snapshot: the final state. Nil if the state has not changed.
    ///   - known: the objects whose deadlines are published already. Their deadlines are not published again.
    mutating func results(
        of effects: [Machine.Effect], snapshot: NavigationSnapshot?, session: String,
        without known: Set<PendingDeadline.Object> = []
    ) throws -> Results {
        var results = Results()
        let last = try snapshot.map { try about(Document.NavigationState($0)) }
        // Each state is published before the other messages of the steps that led to it. The machine lists the state
        // after the effects of these steps.
        var place = 0
        for effect in effects {
            if let message = try message(for: effect) { results.messages.append(message) }
            switch effect {
            case .passed:
                results.messages.insert(results.messages.removeLast(), at: place)
                place = results.messages.count
            case .expectScreenGone(let instance):
                let object = PendingDeadline.Object(session: session, kind: .screen, id: instance)
                results.opened.append(PendingDeadline(object: object, delay: PendingDeadline.animationTime))
            case .expectAnswer(let attempt, let deadline):
                let object = PendingDeadline.Object(session: session, kind: .attempt, id: attempt)
                results.opened.append(PendingDeadline(object: object, delay: deadline))
            case .began(let attributes): began(attributes)
            case .failed(let failure): results.failures.append(failure)
            default: break
            }
        }
        if let last { results.messages.insert(last, at: place) }
        results.opened.removeAll { known.contains($0.object) }
        for deadline in results.opened {
            results.messages.append(try about(deadline.document(platform: platform)))
        }
        return results
    }

    /// The messages that withdraw the deadline documents of objects for which the state no longer waits.
    mutating func withdrawals(of objects: Set<PendingDeadline.Object>) -> [Envelope] {
        objects.sorted { $0.id < $1.id }.map { object in
            withdrawal(
                of: Document.Deadline.type,
                key: Document.Deadline.key(platform: platform, object: object.kind, id: object.id))
        }
    }

    /// The message that withdraws a document of the cause's session.
    mutating func withdrawal(of type: MessageType, key: String) -> Envelope {
        .withdrawal(type, key: key, source: source, causedBy: cause, platform: platform, id: nextID())
    }

    /// Changes the origin of the following messages to that of an earlier message that had to wait.
    mutating func began(_ attributes: Machine.Attributes) {
        cause.origin = Origin(platform: attributes.platform, device: attributes.device, instance: attributes.instance)
    }

    /// The message of an effect. Nil for an effect that has no message of its own.
    mutating func message(for effect: Machine.Effect) throws -> Envelope? {
        switch effect {
        case .openURL(let url):
            try opening(url)
        case .send(let type, let data):
            command(type, data, id: nextID())
        case .ask(let id, let type, let data, let instance, let deadline):
            // The command names the screen instance that waits, so that its work ends when the instance is dismissed.
            command(type, data, id: id, instance: instance, lifetime: deadline)
        case .screenDismissed(let instance, let screen):
            try about(DomainEvent.ScreenDismissed(instance: instance, screen: screen), instance: instance)
        case .messageDiscarded(let id, let reason):
            try about(DomainEvent.MessageDiscarded(messageID: id, reason: reason))
        case .commandExpired(let id, let type):
            try expired(id, type)
        case .failed(let failure):
            // A failure to handle an error is not published as another error.
            cause.type.kind == .error ? nil : try about(ApplicationError(failure))
        case .passed(let snapshot):
            try about(Document.NavigationState(snapshot))
        case .expectScreenGone, .expectAnswer, .applied, .began:
            nil
        }
    }

    /// The error of an expired command. Nil for a command that has no such error. The id of the error is derived from
    /// the id of the command.
    private mutating func expired(_ id: String, _ type: String) throws -> Envelope? {
        guard let error = MessageType(type).flatMap(ApplicationError.init(expired:)) else { return nil }
        var envelope = try about(error)
        envelope.attributes.id = Envelope.expiryErrorID(of: id)
        envelope.attributes.causationID = id
        return envelope
    }

    /// The request to open a URL. It has the origin of the cause; if the cause has no platform, it has this platform.
    private mutating func opening(_ url: String) throws -> Envelope {
        let origin = Origin(platform: cause.platform ?? platform, device: cause.device, instance: cause.instance)
        return try Envelope(
            DomainEvent.URLOpenRequested(url: url), source: source, causedBy: cause, origin: origin, id: nextID())
    }

    /// A message with this platform as its origin, even if the cause came from another platform.
    mutating func about(_ message: some Message, instance: String? = nil) throws -> Envelope {
        let device = cause.platform == platform ? cause.device : nil
        let origin = Origin(platform: platform, device: device, instance: instance)
        return try Envelope(message, source: source, causedBy: cause, origin: origin, id: nextID())
    }

    /// A command that the flow sends. Nil if the type is not a valid message type.
    ///
    /// The command does not carry the instance of its cause, which may be dismissed already.
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
