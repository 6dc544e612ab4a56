internal import Contracts
internal import EventBus
internal import Foundation
internal import Logging
internal import Navigation

/// The machines of one platform, one per session: a value that turns messages into messages.
struct Sessions {
    let flow: Flow
    /// The process that publishes what they lead to.
    let source: String
    private var machines: [String: Machine] = [:]

    init(flow: Flow, source: String) {
        self.flow = flow
        self.source = source
    }

    /// Hands a message to the machine of its session, which begins with the first that is heard of it.
    /// - Throws: ``BusError`` if a result cannot be written as JSON.
    mutating func handle(_ message: Envelope, at date: Date) throws -> Outcome {
        if message.type.kind == .command, message.attributes.isExpired(at: date) {
            return try discarded(message, "expired")
        }
        guard let input = Machine.Input(message) else { return try discarded(message, "its data is not JSON") }
        let known = machines[message.subject]
        var machine = known ?? Machine(flow: flow, session: message.subject)
        let effects = machine.handle(input)
        // A view of a session that has just begun waits for its first state, whether a rule leads on from that or not.
        guard machine.revision != known?.revision else { return try outcome(effects, snapshot: nil, cause: message) }
        machines[message.subject] = machine
        return try outcome(effects, snapshot: machine.snapshot, cause: message)
    }

    /// Takes the sessions up where their snapshots say; begins the default one if there is none.
    mutating func restore(from documents: [Envelope], logger: Logger) throws -> Outcome {
        var restored = Outcome()
        for document in documents where document.attributes.key == flow.platform {
            do {
                let snapshot = try document.decode(Document.NavigationState.self).snapshot
                let restoration = Restoration(snapshot, flow: flow)
                machines[document.subject] = restoration.machine
                let changed = restoration.machine.snapshot == snapshot ? nil : restoration.machine.snapshot
                let outcome = try outcome(restoration.effects, snapshot: changed, cause: document)
                restored.messages += outcome.messages
                restored.expectations += outcome.expectations
                for screen in restoration.dropped {
                    logger.warning("the flow has no screen '\(screen.screen)' any more: \(screen.id) is dismissed")
                }
            } catch let error as BusError {
                // A snapshot of another version: this session begins anew.
                logger.error("session \(document.subject) cannot be restored: \(error)")
            }
        }
        if machines[Session.default] == nil {
            let machine = Machine(flow: flow, session: Session.default)
            machines[Session.default] = machine
            restored.messages.append(
                try Envelope(
                    Document.NavigationState(machine.snapshot), source: source, origin: Origin(platform: flow.platform))
            )
        }
        return restored
    }

    private func discarded(_ message: Envelope, _ reason: String) throws -> Outcome {
        // Another platform's message is its own coordinator's to complain about.
        guard message.attributes.platform ?? flow.platform == flow.platform else { return Outcome() }
        let discarded = DomainEvent.MessageDiscarded(messageID: message.id, reason: reason)
        var results = results(of: message)
        return Outcome(messages: [try results.about(discarded)])
    }

    private func outcome(
        _ effects: [Machine.Effect], snapshot: NavigationSnapshot?, cause: Envelope
    ) throws -> Outcome {
        var results = results(of: cause)
        var outcome = Outcome()
        let last = try snapshot.map { try results.about(Document.NavigationState($0)) }
        // A state goes before what its steps have led to besides, which the machine tells before it.
        var place = 0
        for effect in effects {
            if let message = try results.message(for: effect) { outcome.messages.append(message) }
            switch effect {
            case .passed:
                outcome.messages.insert(outcome.messages.removeLast(), at: place)
                place = outcome.messages.count
            case .expectScreenGone(let instance):
                outcome.expectations.append(
                    Expectation(
                        session: cause.subject, object: .screen(instance: instance), delay: Coordinator.animationTime))
            case .expectAnswer(let attempt, let deadline):
                let object = Expectation.Object.attempt(id: attempt, correlationID: cause.attributes.correlationID)
                outcome.expectations.append(Expectation(session: cause.subject, object: object, delay: deadline))
            case .began(let attributes): results.began(attributes)
            case .failed(let failure): outcome.failures.append(failure)
            default: break
            }
        }
        if let last { outcome.messages.insert(last, at: place) }
        return outcome
    }

    private func results(of cause: Envelope) -> EffectMessages {
        EffectMessages(platform: flow.platform, source: source, cause: cause)
    }
}
