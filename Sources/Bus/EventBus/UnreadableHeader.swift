public import Foundation

/// A header that is not CloudEvents JSON, or that says another type or subject than its message's topic.
///
/// Nobody but its publisher can say what such a message means. Its topic tells whom it concerns, so that a durable consumer
/// can give it up and go on.
public struct UnreadableHeader: Hashable, Sendable {
    /// One line: what is wrong.
    public let reason: String
    /// That of the topic: the subject is not known.
    public let partition: Partition
    /// The header as it was published.
    public let bytes: Data

    package init(reason: String, partition: Partition, bytes: Data) {
        self.reason = reason
        self.partition = partition
        self.bytes = bytes
    }
}

extension Envelope {
    /// What can be said of a message with an unreadable header: its type, and where it stands. The rest of its attributes
    /// stands for nothing.
    package init(type: MessageType, _ header: UnreadableHeader, data: Data, position: Position?) {
        let place = position.map { "@\($0)" } ?? MessageID.make()
        let attributes = Attributes(
            type: type, source: "unknown", subject: Session.default, id: place, time: Date(), correlationID: place,
            traceparent: nil)
        self.init(attributes: attributes, data: data, position: position)
        unreadableHeader = header
    }

    /// The share of the work that it belongs to.
    public var partition: Partition { unreadableHeader?.partition ?? Partition(subject: subject) }

    /// Why a durable consumer has to give it up, whatever it is for; nil for a message that can be read.
    public var rejection: Rejection? {
        unreadableHeader.map { Rejection(code: "message.malformed", reason: $0.reason, attempts: 1) }
    }
}
