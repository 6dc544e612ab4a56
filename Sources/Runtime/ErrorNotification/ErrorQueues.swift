internal import Consuming
internal import Contracts
internal import EventBus
internal import Logging

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
