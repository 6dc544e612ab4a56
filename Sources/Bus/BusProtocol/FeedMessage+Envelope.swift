package import EventBus
internal import Foundation

extension Envelope {
    /// - Throws: ``BusError`` with code `malformed` when the header is not CloudEvents JSON.
    package init(header: Bytes, data: Bytes, position: Position? = nil) throws {
        do {
            self.init(
                attributes: try Attributes(json: header), data: Data(data),
                position: position)
        } catch let error as DecodingError {
            throw BusError(.malformed, "a message has an unreadable header: \(error.summary)")
        }
    }
}

extension FeedMessage {
    /// The message, or what its topic tells of it if its header cannot be read: that is its publisher's mistake, and nobody
    /// else's trouble.
    /// - Parameter settled: up to where everything came before it; up to its own offset unless said.
    /// - Throws: ``BusError`` with code `malformed` when the topic is none.
    package func envelope(settled: UInt64? = nil) throws -> Envelope {
        let position = offset > 0 ? Position(epoch: epoch, offset: offset, settled: settled ?? offset) : nil
        let reason: String
        do {
            let envelope = try Envelope(header: header, data: data, position: position)
            if Topic.name(topic, isOf: envelope) { return envelope }
            reason = "its header says \(envelope.type) of '\(envelope.subject.shortened())'"
        } catch let error as BusError {
            reason = error.message
        }
        guard let topic = Topic(topic) else { throw BusError(.malformed, "at \(offset): '\(topic)' is not a topic") }
        let header = UnreadableHeader(
            reason: "at \(offset) on \(topic.name): \(reason)", partition: topic.partition, bytes: Data(header))
        return Envelope(type: topic.type, header, data: Data(data), position: position)
    }
}

extension PublishedMessage {
    /// - Throws: ``BusError`` with code `malformed` when the header is not CloudEvents JSON.
    package func envelope() throws -> Envelope {
        try Envelope(header: header, data: data)
    }
}
