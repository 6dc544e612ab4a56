internal import Contracts
internal import EventBus
internal import Logging
internal import ServiceRuntime

// A message that cannot be read is not reported as an error: this service would have to show that error itself.
extension ErrorNotifier {
    /// Brings the queue up to date; what is to be published then.
    func results(of message: Envelope, _ queue: inout ErrorQueue) throws -> [Envelope] {
        let before = queue
        let discarded: String?
        do {
            discarded = try update(&queue, with: message)
        } catch let error as BusError {
            logger.error("discarded: \(error)", metadata: ["id": "\(message.id)"])
            discarded = error.message
        }
        var results: [any Message] = []
        if let discarded { results.append(DomainEvent.MessageDiscarded(messageID: message.id, reason: discarded)) }
        if queue != before { results += [queue.banner, Document.ErrorQueueState(queue: queue)] }
        return try results.map { try bus.envelope($0, causedBy: message) }
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
}
