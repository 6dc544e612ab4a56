internal import Consuming
internal import Contracts
internal import EventBus
internal import Foundation
internal import Logging
internal import Navigation

/// The machines of one platform, one for each session that was used lately. Turns received messages into messages to
/// publish.
///
/// `event.LaunchFinished` and `event.DeepLinkReceived` begin a session, and `event.SessionEnded` ends it. Commands to
/// other sessions are discarded, and other messages to them are ignored.
struct Sessions: ComputingHandler {
    /// A machine, and the time at which its snapshot was last published. A class, because ``SessionStates`` keeps and
    /// moves several references to it for each message.
    private final class Recorded: Sendable {
        let machine: Machine
        let time: Date

        init(machine: Machine, time: Date) {
            (self.machine, self.time) = (machine, time)
        }
    }

    private let flow: Flow
    /// The source of the process that publishes the results.
    private let source: String
    private let timers: OpenTimers
    private let idle: IdleSessions?
    private let logger: Logger
    private let now: @Sendable () -> Date
    private var machines: SessionStates<Recorded>
    /// The results of restoring a session, until its first message is handled. They are published with the results of
    /// this message.
    private var restored: [String: Handled] = [:]

    /// - Parameter limit: the number of machines in memory above which those that were not used for the longest time
    ///   are forgotten. They are restored when they are needed.
    init(
        flow: Flow, source: String, timers: OpenTimers, limit: Int, idle: IdleSessions?, logger: Logger,
        now: @escaping @Sendable () -> Date
    ) {
        self.flow = flow
        self.source = source
        self.timers = timers
        self.idle = idle
        self.logger = logger
        self.now = now
        machines = SessionStates(limit: limit)
    }

    // MARK: Restoring

    func missing(for message: Envelope) -> [DocumentName]? {
        guard !machines.isKnown(message.subject) else { return nil }
        return [DocumentName(Document.NavigationState.type, subject: message.subject, key: flow.platform)]
    }

    mutating func restore(_ documents: [Envelope], for message: Envelope) {
        guard let document = documents.first, let (machine, results) = restoration(of: document) else {
            return machines.restore(nil, of: message.subject)
        }
        machines.restore(Recorded(machine: machine, time: document.attributes.time), of: message.subject)
        restored[message.subject] = results
    }

    /// The results of a session that has not begun, or that a changed flow changes. Nil if nothing is to be published.
    /// - Parameter document: the snapshot of the session. Nil if the session has not begun.
    func adaptation(of document: Envelope?, session: String) throws -> Handled? {
        guard let document else {
            let snapshot = Document.NavigationState(Machine(flow: flow, session: session).snapshot)
            return Handled([
                try Envelope(snapshot, source: source, subject: session, origin: Origin(platform: flow.platform))
            ])
        }
        return restoration(of: document)?.results
    }

    /// The machine of a snapshot, and the results of restoring it. If the snapshot cannot be read, the session begins
    /// again, and the results include an error that says so. Nil if the results cannot be encoded.
    private func restoration(of document: Envelope) -> (machine: Machine, results: Handled?)? {
        let session = document.subject
        let known = Set(
            timers.documents(of: session).compactMap { PendingDeadline.Object($0, platform: flow.platform) })
        var outcome = effectMessages(of: document)
        do {
            let snapshot: NavigationSnapshot
            do {
                snapshot = try document.decode(Document.NavigationState.self).snapshot
            } catch let error as BusError {
                logger.error("session \(session) cannot be restored: \(error)")
                let machine = Machine(flow: flow, session: session)
                let results = try outcome.results(
                    of: [.failed(.unreadableState(error.message))], snapshot: machine.snapshot, session: session)
                return (machine, handled(results.messages + outcome.withdrawals(of: known), closed: known))
            }
            let restoration = Restoration(snapshot, flow: flow)
            for screen in restoration.dropped {
                logger.warning("screen '\(screen.screen)' does not fit the flow: \(screen.id) is dismissed")
            }
            let changed = restoration.machine.snapshot == snapshot ? nil : restoration.machine.snapshot
            let results = try outcome.results(
                of: restoration.effects, snapshot: changed, session: session, without: known)
            let closed = known.subtracting(PendingDeadline.objects(in: restoration.machine.state, of: session))
            let messages = results.messages + outcome.withdrawals(of: closed)
            let changes = messages.isEmpty ? nil : handled(messages, opened: results.opened, closed: closed)
            return (restoration.machine, changes)
        } catch {
            logger.error("session \(session) cannot be restored: \(error)")
            return nil
        }
    }

    // MARK: Handling

    /// Passes a message to the machine of its session. An expired command or a message without valid JSON is discarded
    /// instead.
    /// - Throws: ``BusError`` if a result cannot be encoded as JSON.
    mutating func handle(_ message: Envelope) throws -> Handled {
        machines.use(message.subject)
        guard let restored = restored.removeValue(forKey: message.subject) else { return try answer(message, false) }
        var handled = try answer(message, true)
        handled.messages = restored.messages + handled.messages
        handled.whenRecorded = { [whenRecorded = handled.whenRecorded] in
            restored.whenRecorded?()
            whenRecorded?()
        }
        return handled
    }

    /// - Parameter isFirst: true if the machine was restored, and the results of restoring it are not published.
    private mutating func answer(_ message: Envelope, _ isFirst: Bool) throws -> Handled {
        let known = machines[message.subject]
        // A batch that is refused takes the restored machine with it.
        if isFirst { machines.set(known, because: message, isFirst: true) }
        guard known != nil || message.beginsSession || message.type == DomainEvent.SessionEnded.type else {
            guard message.type.kind == .command else { return Handled() }
            return try discarded(message, "session '\(message.subject)' has not begun, or has ended")
        }
        if message.type.kind == .command, message.attributes.isExpired(at: now()) {
            let discarded = try discarded(message, Machine.expiredReason)
            // The command names another platform, whose coordinator reports the expiry.
            guard !discarded.messages.isEmpty else { return discarded }
            return Handled(discarded.messages + [try message.expiryError(source: source)].compactMap(\.self))
        }
        guard let input = Machine.Input(message) else { return try discarded(message, "the data is not JSON") }
        if message.type == DomainEvent.SessionEnded.type { return end(known?.machine, because: message) }
        var machine = known?.machine ?? Machine(flow: flow, session: message.subject)
        let effects = machine.handle(input)
        // The state of a new session is published even if no rule changed it.
        let hasChanged = machine.revision != known?.machine.revision
        let isStale = idle.flatMap { idle in known.map { now().timeIntervalSince($0.time) > idle.renewal } } ?? false
        if hasChanged || isStale { machines.set(Recorded(machine: machine, time: now()), because: message) }
        let waited = PendingDeadline.objects(in: known?.machine.state, of: message.subject)
        return try results(
            of: effects, snapshot: hasChanged || isStale ? machine.snapshot : nil, cause: message,
            closed: waited.subtracting(PendingDeadline.objects(in: machine.state, of: message.subject)))
    }

    /// Withdraws the documents of a session.
    private mutating func end(_ machine: Machine?, because message: Envelope) -> Handled {
        guard let machine else { return Handled() }
        machines.set(nil, because: message)
        var messages = effectMessages(of: message)
        let closed = PendingDeadline.objects(in: machine.state, of: message.subject)
        let state = messages.withdrawal(of: Document.NavigationState.type, key: flow.platform)
        return handled([state] + messages.withdrawals(of: closed), closed: closed)
    }

    mutating func keep(_ partition: Partition, through offset: UInt64) {
        machines.keep(partition, through: offset)
    }

    mutating func revert(_ partition: Partition, from offset: UInt64) {
        machines.revert(partition, from: offset)
    }

    mutating func forget(_ partitions: Set<Partition>) {
        machines.forget(partitions)
        restored = restored.filter { !partitions.contains(Partition(subject: $0.key)) }
    }

    private func discarded(_ message: Envelope, _ reason: String) throws -> Handled {
        // If the message names another platform, the coordinator of that platform reports that it is discarded.
        guard message.attributes.platform ?? flow.platform == flow.platform else { return Handled() }
        let discarded = DomainEvent.MessageDiscarded(messageID: message.id, reason: reason)
        var messages = effectMessages(of: message)
        return Handled([try messages.about(discarded)])
    }

    private func results(
        of effects: [Machine.Effect], snapshot: NavigationSnapshot?, cause: Envelope,
        closed: Set<PendingDeadline.Object>
    ) throws -> Handled {
        var messages = effectMessages(of: cause)
        let results = try messages.results(of: effects, snapshot: snapshot, session: cause.subject)
        for failure in results.failures {
            logger.error("\(failure)", metadata: ["type": "\(cause.type)", "id": "\(cause.id)"])
        }
        return handled(
            results.messages + messages.withdrawals(of: closed), opened: results.opened, closed: closed)
    }

    /// Results that open and close deadlines when they are recorded.
    private func handled(
        _ messages: [Envelope], opened: [PendingDeadline] = [], closed: Set<PendingDeadline.Object>
    ) -> Handled {
        // The delays begin now, so that they do not depend on the time that the publication takes.
        let opened = opened.map { $0.timer(of: timers, platform: flow.platform) }
        return Handled(messages) { [timers, platform = flow.platform] in
            timers.apply(opened: opened, closed: closed.map { $0.document(platform: platform) })
        }
    }

    private func effectMessages(of cause: Envelope) -> EffectMessages {
        EffectMessages(platform: flow.platform, source: source, cause: cause.attributes)
    }
}

extension Envelope {
    /// True for the messages with which a view begins a session.
    fileprivate var beginsSession: Bool {
        type == DomainEvent.LaunchFinished.type || type == DomainEvent.DeepLinkReceived.type
    }
}
