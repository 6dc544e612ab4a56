package import EventBus
internal import Foundation

extension PublishedMessage {
    /// - Throws: ``BusError`` with code `malformed` for a message whose header could not be read: this would be another one;
    ///   `refused` for attributes that no client publishes.
    package init(_ envelope: Envelope) throws {
        if let header = envelope.unreadableHeader { throw BusError(.malformed, header.reason) }
        do { try Rules.check(envelope.attributes) } catch { throw BusError(error) }
        self.init(
            topic: Topic(envelope.type, subject: envelope.subject).name, subject: envelope.subject,
            key: envelope.attributes.key ?? "", header: envelope.attributes.json[...],
            data: Array(envelope.data)[...])
    }
}
