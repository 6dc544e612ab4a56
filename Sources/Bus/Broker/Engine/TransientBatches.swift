internal import BusProtocol
internal import EventBus

/// The batches that are handed on but not journalled, each once.
struct TransientBatches {
    /// The last batch of each producer that is heard.
    private var sequences: [ProducerID: UInt64] = [:]
    /// The topics of their messages: the journal need not have them.
    private var topics = TopicTable()

    /// Reads a batch for whoever listens now.
    /// - Returns: its messages; none when it came before.
    /// - Throws: ``ProtocolError``: a batch that is refused is refused each time.
    mutating func take(_ batch: BatchHead, epoch: UInt64) throws -> [FeedMessage] {
        let content = try BatchContent(of: batch)
        let scanned = try ScannedBatch(content.messages, count: batch.count, topics: topics)
        guard !scanned.hasDocuments else {
            throw ProtocolError(.topic, "documents cannot be transient: they are retained")
        }
        // No journal has them to be read from, so they are on the feed whole.
        guard scanned.messages.allSatisfy({ $0.header.count + $0.data.count <= Limits.feedSize }) else {
            throw ProtocolError(.tooLarge, "a transient message has at most \(Limits.feedSize) bytes")
        }
        // After all that a refused batch must be refused for again.
        guard batch.sequence > sequences[batch.producer] ?? 0 else { return [] }
        sequences[batch.producer] = batch.sequence
        guard topics.entries.count + scanned.newTopics.count <= TopicTable.capacity else {
            throw ProtocolError(.tooLarge, "there are \(TopicTable.capacity) topics already: use fewer types")
        }
        let new = try scanned.newTopics.map { try topics.add($0, id: 0, head: 0) }
        return scanned.messages.map { message in
            FeedMessage(
                topic: topics[message.topic.index(amongNew: new)].name, epoch: epoch, offset: 0, previous: 0,
                header: scanned.frame[message.header], data: scanned.frame[message.data])
        }
    }

    /// The producer has gone, or is thought to have gone.
    mutating func leave(_ producer: ProducerID) {
        sequences[producer] = nil
    }
}
