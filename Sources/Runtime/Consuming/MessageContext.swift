public import EventBus
public import Logging

/// What a handler knows besides its message.
public struct MessageContext: Sendable {
    /// The message as it travelled. What the handler gives back is caused by it.
    public let cause: Envelope
    public let bus: any EventBus
    /// Its lines carry the message's type and id.
    public let logger: Logger

    init(cause: Envelope, bus: any EventBus, logger: Logger) {
        self.cause = cause
        self.bus = bus
        var logger = logger
        logger[metadataKey: "type"] = "\(cause.type)"
        logger[metadataKey: "id"] = "\(cause.id)"
        self.logger = logger
    }

    /// Publishes at once what cannot wait for the handler's end, such as a document that says `loading`.
    ///
    /// It is not part of the handler's batch: after a crash it is published again, so it must bear repetition.
    public func publish(_ message: some Message) async throws {
        try await bus.publish(Batch([bus.envelope(message, causedBy: cause)]))
    }
}
