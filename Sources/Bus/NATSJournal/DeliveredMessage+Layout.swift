internal import BusFormat
internal import EventBus
package import NATS
package import NATSLayout

extension DeliveredMessage {
    /// - Throws: ``ProtocolError`` if the message was not published by a client of the bus.
    package func batchHeaders() throws -> BatchHeaders { try BatchHeaders(batchField) }

    /// The message as a batch.
    /// - Throws: ``ProtocolError`` if it is damaged, or was not published by a client of the bus.
    package func batch() throws -> BatchMessage { try BatchMessage(body: message.body, batchField) }

    /// The value of a header that a reader of messages needs.
    private func batchField(_ name: BatchHeaders.Name) -> String? {
        switch name {
        case .batch, .progress, .progressEpoch, .rejection: message.header(name.rawValue)
        default: nil
        }
    }
}

extension StoredMessage {
    /// The time and the id by which a client recognizes a message that it has seen.
    package var identity: (time: Int64, id: String?) { (time, headers[BatchHeaders.Name.id.rawValue]) }
}

extension HandledOffsets {
    /// Handles a fence, a batch or a progress record, in the order of the stream.
    /// - Parameter fence: Reads the fence of a message; nil if it is damaged.
    package mutating func read(
        _ delivered: DeliveredMessage, in names: StreamNames,
        fence: (DeliveredMessage) async throws -> FenceRecord?
    ) async throws {
        let sequence = UInt64(delivered.streamSequence)
        switch BusSubject(delivered.subject, in: names.namespace) {
        case .fence(let owner):
            if let fence = try await fence(delivered) { read(fence, of: owner.partition, at: sequence) }
        case .results(let owner, _), .progress(let owner):
            // A message that cannot be read was not published by a client of this bus.
            guard let progress = try? delivered.batchHeaders().progress else { return }
            read(progress, fenced: owner.partition, at: sequence)
        default: return
        }
    }
}
