package import EventBus
internal import Foundation

extension Envelope {
    /// The message that a journal, a feed or a dead letter has on a topic. If its header is unreadable or contradicts
    /// the topic, the envelope has the type and partition of the topic, and the mistake is in
    /// ``Envelope/unreadableHeader``.
    /// - Parameter origin: Replaces the session and the publisher of the header, also of an unreadable one: what
    ///   consumers report about it belongs to its session.
    /// - Throws: ``BusError`` with code `malformed` if the topic is invalid.
    package init(
        topic: String, header: Bytes, data: Bytes, position: Position?, origin: VerifiedOrigin? = nil
    ) throws {
        let reason: String
        do {
            let envelope = try Envelope(header: header, data: data, position: position, origin: origin)
            if Topic.name(topic, isOf: envelope) {
                self = envelope
                return
            }
            reason = "the header has the type \(envelope.type) and the subject '\(envelope.subject.shortened())'"
        } catch let error as BusError {
            reason = error.message
        }
        let offset = position?.offset ?? 0
        guard let topic = Topic(topic) else {
            throw BusError(.malformed, "the message at \(offset) has an invalid topic: '\(topic)'")
        }
        let header = UnreadableHeader(
            reason: "at \(offset) on \(topic.name): \(reason)", partition: topic.partition, bytes: Data(header))
        self = Envelope(type: topic.type, header, data: Data(data), position: position).with(origin)
    }

    /// - Parameter origin: Replaces the session and the publisher of the header.
    /// - Throws: ``BusError`` with code `malformed` if the header is not CloudEvents JSON.
    package init(header: Bytes, data: Bytes, position: Position? = nil, origin: VerifiedOrigin? = nil) throws {
        do {
            self = try Envelope(received: header, data: data, position: position).with(origin)
        } catch let error as DecodingError {
            throw BusError(.malformed, "a message has an unreadable header: \(error.summary)")
        }
    }
}
