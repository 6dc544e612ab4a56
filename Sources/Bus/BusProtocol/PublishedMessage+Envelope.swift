package import EventBus
internal import Foundation

extension PublishedMessage {
    package init(_ envelope: Envelope) throws {
        self.init(
            topic: Topic(envelope.type, subject: envelope.subject).name, subject: envelope.subject,
            key: envelope.attributes.key ?? "", header: envelope.attributes.json[...],
            data: Array(envelope.data)[...])
    }
}
