internal import BusFormat
internal import BusProtocol
internal import EventBus

/// The leased documents of this client, as the journal last recorded them.
typealias LeasedDocuments = OwnLeases<PublishedMessage, CheckpointFrame>

extension OwnLeases<PublishedMessage, CheckpointFrame> {
    /// - Parameter packed: The encoded messages of the batch. The returned documents share this memory.
    mutating func change(by batch: Batch, _ packed: PackedMessages) throws(ProtocolError) -> Change? {
        let condition = batch.checkpoint.flatMap { $0.isGuard ? CheckpointFrame($0) : nil }
        return try change(by: batch, under: condition) { () throws(ProtocolError) in
            var reader = ByteReader(packed.bytes)
            var messages: [PublishedMessage] = []
            for _ in batch.messages.indices { messages.append(try PublishedMessage(&reader)) }
            return messages
        }
    }

    /// All leased documents, divided into batches. Documents that unanswered batches change are left out.
    func batches(except changing: Set<DocumentName>) -> [(condition: CheckpointFrame?, messages: [PublishedMessage])] {
        var batches: [(condition: CheckpointFrame?, messages: [PublishedMessage])] = []
        var size = 0
        for (_, lease) in leases(except: changing) {
            size += lease.content.size
            if let last = batches.last, size <= Limits.maximumFrameSize, last.messages.count < Limits.batchCount,
                last.condition == lease.condition
            {
                batches[batches.count - 1].messages.append(lease.content)
            } else {
                batches.append((lease.condition, [lease.content]))
                size = lease.content.size
            }
        }
        return batches
    }
}

extension PublishedMessage {
    /// The size of the message in a frame, in bytes, including the length fields.
    fileprivate var size: Int {
        topic.utf8.count + subject.utf8.count + key.utf8.count + header.count + data.count + 14
    }
}
