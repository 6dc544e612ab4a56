public import Consuming
internal import Contracts
public import EventBus
public import Logging
public import Support

/// Publishes the errors of each session as a `document.ErrorBanner`, one error at a time.
///
/// A `command.ErrorDismissed` hides a banner. A view sends the command when a person dismisses the banner, and this
/// service sends it when the display time is over.
public struct ErrorNotifier: ReadyService {
    package static let consumer = "error-notifier"

    package static let receives: [any Message.Type] = [
        ApplicationError.self, Command.ErrorDismissed.self, DomainEvent.SessionEnded.self,
        DomainEvent.LaunchFinished.self, DomainEvent.DeepLinkReceived.self,
    ]
    package static let sends: [any Message.Type] = [
        Document.ErrorBanner.self, Document.ErrorQueueState.self, Command.ErrorDismissed.self,
        DomainEvent.MessageDiscarded.self, ApplicationError.self,
    ]

    public let ready = Latch()
    private let bus: EventBus
    private let logger: Logger
    private let metrics: ConsumerMetrics
    private let clock: ServiceClock

    /// - Parameters:
    ///   - metrics: the counts of the process; the service updates them.
    ///   - clock: measures the display time of a banner, and the pauses between attempts to reach the bus.
    public init(
        bus: EventBus, logger: Logger, metrics: ConsumerMetrics = ConsumerMetrics(), clock: ServiceClock = .system
    ) {
        self.bus = bus
        self.logger = logger
        self.metrics = metrics
        self.clock = clock
    }

    public func run() async throws {
        try await BusRetry(holding: .nothing, logger: logger, clock: clock.pauses).run { try await notify() }
    }

    private func notify() async throws {
        let loop = ConsumerLoop(
            Self.consumer, Self.receives.types.map { .type($0) }, bus: bus, logger: logger, metrics: metrics,
            clock: clock.pauses, whenLive: ready.open)
        let timers = ConsumerTasks<ShownError>()
        let queues = ErrorQueues(bus: bus, logger: logger, clock: clock, whenShown: { timers.begin($0) })
        try await timers.run {
            try await loop.runShared(queues) { _, new in try await resume(new, timers) }
        } task: {
            try await hideInDueTime($0)
        }
    }

    /// Starts the display time of the errors that the banners of new partitions show.
    private func resume(_ partitions: Set<Partition>, _ timers: ConsumerTasks<ShownError>) async throws {
        guard !partitions.isEmpty else { return }
        for document in try await bus.documents(matching: [.type(Document.ErrorBanner.self)]) {
            guard partitions.contains(document.partition),
                let banner = try? document.decode(Document.ErrorBanner.self),
                let id = banner.errorID, let error = banner.error
            else { continue }
            let entry = ErrorQueue.Entry(id: id, error: error)
            timers.begin(ShownError(session: document.subject, entry: entry, since: clock.elapsed()))
        }
    }

    /// Dismisses an error when its display time is over.
    private func hideInDueTime(_ shown: ShownError) async throws {
        do {
            try await clock.sleepUntil(shown.since + shown.entry.error.severity.displayTime)
            let retry = BusRetry(holding: .nothing, logger: logger, clock: clock.pauses)
            try await retry.run {
                // If the banner shows another error now, this one has been dismissed already.
                let banner = try await bus.document(Document.ErrorBanner.self, subject: shown.session)
                guard banner?.errorID == shown.entry.id else { return }
                _ = try await bus.send(Command.ErrorDismissed(errorID: shown.entry.id), subject: shown.session)
            }
        } catch let error as BusError where [.refused, .malformed].contains(error.code) {
            logger.error("a banner could not be hidden: \(error)", metadata: ["id": "\(shown.entry.id)"])
        } catch is CancellationError {
            // The service stops. The next process shows the banner for the whole display time again.
        }
    }
}

/// An error that a banner shows now.
struct ShownError: Sendable {
    let session: String
    let entry: ErrorQueue.Entry
    /// The beginning of its display time, by ``ServiceClock/elapsed``.
    let since: Duration
}

/// The error queues of all sessions. Turns errors and dismissals into banners.
///
/// A message that cannot be decoded is discarded and not reported as an error.
struct ErrorQueues: ComputingHandler {
    private let bus: EventBus
    private let logger: Logger
    private let clock: ServiceClock
    private let whenShown: @Sendable (ShownError) -> Void
    private var queues = SessionStates<ErrorQueue>(limit: capacity)

    /// The maximum number of queues in memory.
    private static let capacity = 20_000

    /// - Parameter whenShown: called for each error that is shown, after its banner is recorded.
    init(
        bus: EventBus, logger: Logger, clock: ServiceClock = .system,
        whenShown: @escaping @Sendable (ShownError) -> Void
    ) {
        self.bus = bus
        self.logger = logger
        self.clock = clock
        self.whenShown = whenShown
    }

    func missing(for message: Envelope) -> [DocumentName]? {
        guard !queues.isKnown(message.subject) else { return nil }
        return [DocumentName(Document.ErrorQueueState.type, subject: message.subject)]
    }

    mutating func restore(_ documents: [Envelope], for message: Envelope) {
        do {
            let state = try documents.first?.decode(Document.ErrorQueueState.self)
            queues.restore(state?.queue, of: message.subject)
        } catch {
            logger.warning("the errors of session \(message.subject) could not be restored: \(error)")
            queues.restore(nil, of: message.subject)
        }
    }

    mutating func handle(_ message: Envelope) throws -> Handled {
        queues.use(message.subject)
        switch message.type {
        case DomainEvent.SessionEnded.type: return end(message)
        case DomainEvent.LaunchFinished.type, DomainEvent.DeepLinkReceived.type: return begin(message)
        default: break
        }
        let before = queues[message.subject] ?? ErrorQueue()
        if before.hasEnded, message.type == ApplicationError.type { return Handled() }
        var queue = before
        let discarded: String?
        do {
            discarded = try update(&queue, with: message)
        } catch let error as BusError {
            logger.error("discarded a message: \(error)", metadata: ["id": "\(message.id)"])
            discarded = error.message
        }
        var results: [any Message] = []
        if let discarded { results.append(DomainEvent.MessageDiscarded(messageID: message.id, reason: discarded)) }
        if queue != before {
            queues.set(queue, because: message)
            results += [queue.banner, Document.ErrorQueueState(queue: queue)]
        }
        let shown = queue.shown.flatMap {
            $0 == before.shown ? nil : ShownError(session: message.subject, entry: $0, since: clock.elapsed())
        }
        return Handled(try results.map { try bus.envelope($0, causedBy: message) }) { [whenShown] in
            if let shown { whenShown(shown) }
        }
    }

    /// The errors of a session that has ended are shown again.
    private mutating func begin(_ message: Envelope) -> Handled {
        if queues[message.subject]?.hasEnded == true { queues.set(nil, because: message) }
        return Handled()
    }

    /// Withdraws the documents of a session.
    private mutating func end(_ message: Envelope) -> Handled {
        let queue = queues[message.subject]
        var ended = ErrorQueue()
        ended.hasEnded = message.subject != Session.default
        queues.set(ended, because: message)
        guard let queue, !queue.hasEnded else { return Handled() }
        let types = [Document.ErrorBanner.type, Document.ErrorQueueState.type]
        return Handled(
            types.map { .withdrawal($0, key: nil, source: bus.source, causedBy: message.attributes) })
    }

    /// Changes a queue because of a message.
    /// - Returns: the reason why the message is discarded. Nil if the message is not discarded.
    private func update(_ queue: inout ErrorQueue, with message: Envelope) throws -> String? {
        switch message.type {
        case ApplicationError.type:
            let arrival = queue.add(ErrorQueue.Entry(id: message.id, error: try message.decode()))
            return arrival == .full ? "the error queue is full: \(ErrorQueue.capacity) errors wait to be shown" : nil
        case Command.ErrorDismissed.type:
            // The expiry time is not checked.
            let errorID = try message.decode(Command.ErrorDismissed.self).errorID
            return queue.dismiss(errorID) ? nil : "error '\(errorID)' is neither shown nor waiting"
        default:
            return nil
        }
    }

    mutating func keep(_ partition: Partition, through offset: UInt64) {
        queues.keep(partition, through: offset)
    }

    mutating func revert(_ partition: Partition, from offset: UInt64) {
        queues.revert(partition, from: offset)
    }

    mutating func forget(_ partitions: Set<Partition>) {
        queues.forget(partitions)
    }
}

extension ApplicationError.Severity {
    /// The display time of a banner. It is longer for more severe errors.
    package var displayTime: Duration {
        switch self {
        case .info: .seconds(4)
        case .warning: .seconds(7)
        case .error: .seconds(10)
        }
    }
}
