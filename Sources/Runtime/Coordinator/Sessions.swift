internal import Consuming
internal import Contracts
internal import EventBus
internal import Foundation
internal import Logging
internal import Navigation

/// The machines of one platform, one for each session. Turns received messages into messages to publish.
struct Sessions: ComputingHandler {
    private let flow: Flow
    /// The source of the process that publishes the results.
    private let source: String
    private let open: OpenDeadlines
    private let logger: Logger
    private let now: @Sendable () -> Date
    private var machines = SessionStates<Machine>()

    init(
        flow: Flow, source: String, open: OpenDeadlines, logger: Logger, now: @escaping @Sendable () -> Date
    ) {
        self.flow = flow
        self.source = source
        self.open = open
        self.logger = logger
        self.now = now
    }

    /// Passes a message to the machine of its session. Creates the machine if the session has none. An expired command
    /// or a message without valid JSON is discarded instead.
    /// - Throws: ``BusError`` if a result cannot be encoded as JSON.
    mutating func handle(_ message: Envelope) throws -> Handled {
        if message.type.kind == .command, message.attributes.isExpired(at: now()) {
            let discarded = try discarded(message, "expired")
            // The command names another platform, whose coordinator reports the expiry.
            guard !discarded.messages.isEmpty else { return discarded }
            return Handled(discarded.messages + [try message.expiryError(source: source)].compactMap(\.self))
        }
        guard let input = Machine.Input(message) else { return try discarded(message, "the data is not JSON") }
        let known = machines[message.subject]
        var machine = known ?? Machine(flow: flow, session: message.subject)
        let effects = machine.handle(input)
        // The state of a new session is published even if no rule changed it.
        let hasChanged = machine.revision != known?.revision
        if hasChanged { machines.set(machine, because: message) }
        let waited = Deadline.objects(in: known?.state, of: message.subject)
        return try results(
            of: effects, snapshot: hasChanged ? machine.snapshot : nil, cause: message,
            closed: waited.subtracting(Deadline.objects(in: machine.state, of: message.subject)))
    }

    mutating func keep(_ partition: Partition, through offset: UInt64) {
        machines.keep(partition, through: offset)
    }

    mutating func takeBack(_ partition: Partition, from offset: UInt64) {
        machines.takeBack(partition, from: offset)
    }

    /// Restores each session from its snapshot. Creates the default session if it does not exist.
    /// - Parameter deadlines: the messages of type `document.Deadline`.
    mutating func restore(from documents: [Envelope], deadlines: [Envelope]) throws -> Handled {
        var restored = Handled()
        var opened: [Deadline] = []
        var awaited: Set<Deadline.Object> = []
        let own = deadlines.filter { $0.attributes.key?.hasPrefix("\(flow.platform).") ?? false }
        let known = own.compactMap { try? Deadline($0) }
        let knownObjects = Set(known.map(\.object))
        for document in documents where document.attributes.key == flow.platform {
            do {
                let snapshot = try document.decode(Document.NavigationState.self).snapshot
                let restoration = Restoration(snapshot, flow: flow)
                machines.restore(restoration.machine, of: document.subject)
                awaited.formUnion(Deadline.objects(in: restoration.machine.state, of: document.subject))
                let changed = restoration.machine.snapshot == snapshot ? nil : restoration.machine.snapshot
                var outcome = effectMessages(of: document)
                let result = try outcome.results(
                    of: restoration.effects, snapshot: changed, session: document.subject, without: knownObjects)
                restored.messages += result.messages
                opened += result.opened
                for screen in restoration.dropped {
                    logger.warning("screen '\(screen.screen)' does not fit the flow: \(screen.id) is dismissed")
                }
            } catch let error as BusError {
                // The snapshot is unreadable. The session starts from the beginning.
                logger.error("session \(document.subject) cannot be restored: \(error)")
            }
        }
        for document in own where (try? Deadline(document)).map({ awaited.contains($0.object) }) != true {
            restored.messages.append(
                .withdrawal(document.type, key: document.attributes.key, source: source, causedBy: document.attributes))
        }
        if machines[Session.default] == nil {
            let machine = Machine(flow: flow, session: Session.default)
            machines.restore(machine, of: Session.default)
            restored.messages.append(
                try Envelope(
                    Document.NavigationState(machine.snapshot), source: source, origin: Origin(platform: flow.platform))
            )
        }
        let deadlines = opened + known.filter { awaited.contains($0.object) }
        restored.whenRecorded = { [open] in open.open(deadlines) }
        return restored
    }

    private func discarded(_ message: Envelope, _ reason: String) throws -> Handled {
        // If the message names another platform, the coordinator of that platform reports that it is discarded.
        guard message.attributes.platform ?? flow.platform == flow.platform else { return Handled() }
        let discarded = DomainEvent.MessageDiscarded(messageID: message.id, reason: reason)
        var messages = effectMessages(of: message)
        return Handled([try messages.about(discarded)])
    }

    private func results(
        of effects: [Machine.Effect], snapshot: NavigationSnapshot?, cause: Envelope, closed: Set<Deadline.Object>
    ) throws -> Handled {
        var messages = effectMessages(of: cause)
        let results = try messages.results(of: effects, snapshot: snapshot, session: cause.subject)
        for failure in results.failures {
            logger.error("\(failure)", metadata: ["type": "\(cause.type)", "id": "\(cause.id)"])
        }
        let withdrawals = closed.sorted { $0.id < $1.id }.map { messages.withdrawal(of: $0) }
        return Handled(results.messages + withdrawals) { [open] in
            open.close(closed)
            open.open(results.opened)
        }
    }

    private func effectMessages(of cause: Envelope) -> EffectMessages {
        EffectMessages(platform: flow.platform, source: source, cause: cause.attributes)
    }
}
