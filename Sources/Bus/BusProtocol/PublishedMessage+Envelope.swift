package import EventBus
internal import Foundation

extension PublishedMessage {
    package init(_ envelope: Envelope) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.init(
            topic: Topic(envelope.type, subject: envelope.subject).name, subject: envelope.subject,
            key: envelope.attributes.key ?? "", header: Array(try encoder.encode(envelope.attributes)),
            data: Array(envelope.data))
    }
}
