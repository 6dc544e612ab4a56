internal import Contracts
internal import EventBus
internal import Logging

// What becomes of a message that cannot be handled:
//
// - a command that has expired: `event.MessageDiscarded`;
// - data that is not what the type says: `error.ApplicationError` with the code `message.malformed`;
// - a handler that throws an `ApplicationError`: that error;
// - a handler that throws anything else, or whose results the broker refuses: an `ApplicationError` with the code
//   `<service>.failed`. What was thrown is logged, not published: only an error that was made to be read by the person
//   in front of a view is shown there;
// - any of these while handling an error: nothing, for an error about an error would feed itself.
//
// Cancellation and any other error of the bus end the consumer: its progress could not be committed anyway.
extension MessageConsumer {
    func results(of message: Envelope) async throws -> [Envelope] {
        // A document that was withdrawn has no data to hand to anybody.
        guard let handle = routes[message.type], !message.isTombstone else { return [] }
        let context = MessageContext(cause: message, bus: bus, logger: logger)
        if message.type.kind == .command, message.attributes.isExpired(at: now()) {
            context.logger.info("discarded: expired")
            let discarded = DomainEvent.MessageDiscarded(messageID: message.id, reason: "expired")
            return [try bus.envelope(discarded, causedBy: message)]
        }
        do {
            return try await handle(context).map { try bus.envelope($0, causedBy: message) }
        } catch let error as CancellationError where Task.isCancelled {
            // Cancelled work of the handler's own is a failure like any other.
            throw error
        } catch let error as BusError where ![.malformed, .refused].contains(error.code) {
            throw error
        } catch {
            return try failure(of: message, error)
        }
    }

    func failure(of message: Envelope, _ error: any Error) throws -> [Envelope] {
        MessageContext(cause: message, bus: bus, logger: logger).logger.error("failed: \(error)")
        if message.type.kind == .error { return [] }
        return [try bus.envelope(applicationError(for: error, message), causedBy: message)]
    }

    private func applicationError(for error: any Error, _ message: Envelope) -> ApplicationError {
        switch error {
        case let error as ApplicationError: error
        case let error as BusError where error.code == .malformed:
            ApplicationError(code: "message.malformed", message: error.message)
        default:
            ApplicationError(
                code: "\(service).failed", message: "\(service) could not handle \(message.type)",
                recovery: "see its log for message \(message.id)")
        }
    }

    /// The process's name, the first part of its source.
    private var service: Substring { bus.source.prefix { $0 != "/" } }
}
