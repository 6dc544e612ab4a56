/// What the broker sends to a client that serves queries, unasked: its head says which query.
/// Frames: head | the message, as when it is published; or head alone, for one that is cancelled.
package enum Notice: Hashable, Sendable {
    case query(id: UInt64, PublishedMessage)
    case cancel(id: UInt64)

    package var frames: [[UInt8]] {
        switch self {
        case .query(let id, let message):
            var writer = ByteWriter()
            message.write(to: &writer)
            return [RequestHead(operation: .query, id: id).bytes, writer.bytes]
        case .cancel(let id): return [RequestHead(operation: .cancel, id: id).bytes]
        }
    }

    /// Nil for a reply: replies have at least two frames, and never begin with a query's head.
    package init?(_ frames: [[UInt8]]) throws(ProtocolError) {
        guard let first = frames.first, let head = try? RequestHead(first) else { return nil }
        switch (head.operation, frames.count) {
        case (.query, 2):
            var reader = ByteReader(frames[1])
            self = .query(id: head.id, try PublishedMessage(&reader))
        case (.cancel, 1): self = .cancel(id: head.id)
        default: return nil
        }
    }
}
