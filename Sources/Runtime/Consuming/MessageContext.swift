internal import Contracts
public import EventBus
public import Foundation
public import Logging

/// The surroundings of a handler's call: the message's envelope, the documents of its session, the time and a logger.
public struct MessageContext: Sendable {
    /// The message with its attributes. It is the cause of the messages that the handler returns.
    public let cause: Envelope
    /// The bus. What is published with it directly is neither fenced nor compared with the declared messages.
    public let bus: EventBus
    /// A logger whose lines carry the message's type and id.
    public let logger: Logger
    /// The time at which the handler was called first.
    public let time: Date
    private let publishNow: @Sendable (Envelope) async throws -> Void

    /// - Parameter publishNow: publishes a message before the handler ends.
    init(
        cause: Envelope, bus: EventBus, logger: Logger, time: Date,
        publishNow: @escaping @Sendable (Envelope) async throws -> Void
    ) {
        self.cause = cause
        self.bus = bus
        self.time = time
        self.publishNow = publishNow
        var logger = logger
        logger[metadataKey: "type"] = "\(cause.type)"
        logger[metadataKey: "id"] = "\(cause.id)"
        self.logger = logger
    }

    /// The session of the message.
    public var session: String { cause.subject }

    /// The session's document of a type and key. Nil if there is none.
    /// - Throws: `BusError`: `malformed` if the document's data does not match its type, `refused` if no document can
    ///   have this key.
    public func document<D: DocumentMessage>(_ type: D.Type, key: String? = nil) async throws -> D? {
        try await bus.document(type, subject: session, key: key)
    }

    /// Publishes a message at once, before the handler ends: for example a document that says `loading`.
    ///
    /// The message is not part of the handler's batch. After a crash or a failed attempt it may be published again, so
    /// publishing it twice must do no harm.
    /// - Throws: `BusError` with the code `refused` or `malformed`. Also an error that the handler must not catch: if
    ///   its `sends` does not name the type, and if the partition of the session was lost, or is read anew.
    public func publish(_ message: some PublishableMessage) async throws {
        try await publishNow(try bus.envelope(message, causedBy: cause))
    }
}

/// The partition of a message was lost while it was handled, or is read anew. Its results are not published.
struct PartitionLost: Error {}
