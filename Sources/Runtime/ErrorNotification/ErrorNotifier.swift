package import Consuming
internal import Contracts
package import EventBus
package import Logging

/// Shows the errors of every session as `document.ErrorBanner`, over whatever screen there is.
///
/// A banner is hidden by `command.ErrorDismissed`: a person sends it, or this service itself when the time is up. So what
/// hid a banner can be seen on the bus, and a recording replays without a clock.
package struct ErrorNotifier: ReadyService {
    static let consumer = "error-notifier"

    package static let receives: [any Message.Type] = [ApplicationError.self, Command.ErrorDismissed.self]
    package static let sends: [any Message.Type] = [
        Document.ErrorBanner.self, Document.ErrorQueueState.self, Command.ErrorDismissed.self,
        DomainEvent.MessageDiscarded.self, ApplicationError.self,
    ]

    package let ready = ReadySignal()
    private let bus: any EventBus
    private let logger: Logger
    private let metrics: ConsumerMetrics
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - metrics: of the process; counts what is handled.
    ///   - clock: measures how long a banner is shown.
    package init(
        bus: any EventBus, logger: Logger, metrics: ConsumerMetrics = ConsumerMetrics(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.bus = bus
        self.logger = logger
        self.metrics = metrics
        self.clock = clock
    }

    package func run() async throws {
        try await BusRetry(logger: logger, clock: clock).run { try await notify() }
    }

    private func notify() async throws {
        let loop = ConsumerLoop(
            Self.consumer, Self.receives.types.map { .type($0) }, bus: bus, logger: logger, metrics: metrics,
            clock: clock, whenLive: ready.signal)
        guard let claim = try await loop.claim() else { return }
        try await loop.tellCutOffs(of: claim)
        let timers = Companions<ShownError>()
        // Reading comes after the claim: no other process writes these documents from then on.
        let queues = ErrorQueues(
            try await restoredQueues(), bus: bus, logger: logger, whenShown: { timers.begin($0) })
        try await timers.run {
            try await loop.run(under: claim, queues)
        } task: {
            try await hideInDueTime($0)
        }
    }

    /// The errors of each session that were shown or waited.
    private func restoredQueues() async throws -> [String: ErrorQueue] {
        var queues: [String: ErrorQueue] = [:]
        for document in try await bus.documents(matching: [.type(Document.ErrorQueueState.self)]) {
            do {
                queues[document.subject] = try document.decode(Document.ErrorQueueState.self).queue
            } catch {
                logger.warning("the errors of session \(document.subject) could not be restored: \(error)")
            }
        }
        return queues
    }

    /// Dismisses an error when its time is up.
    private func hideInDueTime(_ shown: ShownError) async throws {
        do {
            try await clock.sleep(for: shown.entry.error.severity.displayTime)
            let retry = BusRetry(logger: logger, clock: clock, after: [.unavailable, .journal])
            try await retry.run {
                // The banner says whether it was dismissed before.
                let banner = try await bus.document(Document.ErrorBanner.self, subject: shown.session)
                guard banner?.errorID == shown.entry.id else { return }
                _ = try await bus.send(Command.ErrorDismissed(errorID: shown.entry.id), subject: shown.session)
            }
        } catch let error as BusError where [.refused, .malformed].contains(error.code) {
            logger.error("an error could not be hidden: \(error)", metadata: ["id": "\(shown.entry.id)"])
        } catch is CancellationError {
            // The service stops. Its successor shows the banner for the whole time again.
        }
    }
}

/// An error that has just been shown.
struct ShownError: Sendable {
    let session: String
    let entry: ErrorQueue.Entry
}

/// The error queues of all sessions: a value that turns errors and dismissals into banners.
///
/// A message that cannot be read is not reported as an error: this service would have to show that error itself.
struct ErrorQueues: ComputingHandler {
    private let bus: any EventBus
    private let logger: Logger
    private let whenShown: @Sendable (ShownError) -> Void
    private var queues = SessionStates<ErrorQueue>()

    /// - Parameter whenShown: called for each error that is shown: those that were restored, then others once their banner
    ///   is recorded.
    init(
        _ restored: [String: ErrorQueue], bus: any EventBus, logger: Logger,
        whenShown: @escaping @Sendable (ShownError) -> Void
    ) {
        self.bus = bus
        self.logger = logger
        self.whenShown = whenShown
        for (session, queue) in restored {
            queues.restore(queue, of: session)
            // The time starts anew after a restart: rather shown too long than never read.
            if let entry = queue.shown { whenShown(ShownError(session: session, entry: entry)) }
        }
    }

    mutating func handle(_ message: Envelope) throws -> Handled {
        let before = queues[message.subject] ?? ErrorQueue()
        var queue = before
        let discarded: String?
        do {
            discarded = try update(&queue, with: message)
        } catch let error as BusError {
            logger.error("discarded: \(error)", metadata: ["id": "\(message.id)"])
            discarded = error.message
        }
        var results: [any Message] = []
        if let discarded { results.append(DomainEvent.MessageDiscarded(messageID: message.id, reason: discarded)) }
        if queue != before {
            queues.set(queue, because: message)
            results += [queue.banner, Document.ErrorQueueState(queue: queue)]
        }
        let shown = queue.shown.flatMap { $0 == before.shown ? nil : ShownError(session: message.subject, entry: $0) }
        return Handled(try results.map { try bus.envelope($0, causedBy: message) }) { [whenShown] in
            if let shown { whenShown(shown) }
        }
    }

    /// - Returns: why the message was of no use; nil if it was.
    private func update(_ queue: inout ErrorQueue, with message: Envelope) throws -> String? {
        switch message.type {
        case ApplicationError.type:
            let arrival = queue.add(ErrorQueue.Entry(id: message.id, error: try message.decode()))
            return arrival == .full ? "\(ErrorQueue.capacity) errors are waiting to be shown" : nil
        case Command.ErrorDismissed.type:
            // No expiry is checked: to dismiss late does no harm, to show an error for ever does.
            let errorID = try message.decode(Command.ErrorDismissed.self).errorID
            return queue.dismiss(errorID) ? nil : "error '\(errorID)' is not shown"
        default:
            return nil
        }
    }

    mutating func keep(_ partition: Partition, through offset: UInt64) {
        queues.keep(partition, through: offset)
    }

    mutating func takeBack(_ partition: Partition, from offset: UInt64) {
        queues.takeBack(partition, from: offset)
    }
}

extension ApplicationError.Severity {
    /// How long a banner stays: long enough to read two lines, longer where something has to be done.
    var displayTime: Duration {
        switch self {
        case .info: .seconds(4)
        case .warning: .seconds(7)
        case .error: .seconds(10)
        }
    }
}
