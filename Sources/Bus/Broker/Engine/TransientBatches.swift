internal import BusFormat
internal import BusProtocol
internal import EventBus

/// The transient batches: each is published once and not recorded.
struct TransientBatches {
    /// The sequence of the last transient batch of each producer that is present.
    private var sequences: [ProducerID: UInt64] = [:]
    /// The topics of transient messages. The journal may not have these topics.
    private var topics: TopicTable

    init(_ limits: UserLimits) {
        topics = TopicTable(limit: limits.topics)
    }

    /// Reads a batch for the feed.
    /// - Parameter publisher: Nil on a bus without keys.
    /// - Returns: Its messages; none if the batch is a repetition.
    /// - Throws: ``ProtocolError`` if the batch is refused.
    mutating func handle(_ batch: BatchHead, from publisher: Publisher?, epoch: UInt64) throws -> [FeedMessage] {
        let content = try BatchContent(of: batch)
        let scanned = try ScannedBatch(content.messages, count: batch.count, topics: topics)
        do {
            for message in scanned.messages {
                let type =
                    switch message.topic {
                    case .known(let index): topics[index].type
                    case .new(let index): scanned.newTopics[index].type
                    }
                try Rules.checkTransient(type, headerCount: message.header.count, dataCount: message.data.count)
            }
        } catch {
            throw ProtocolError(error)
        }
        try publisher?.check(scanned, in: topics, isTransient: true) { _, _, _ in nil }
        // The sequence is stored after all checks, so that a batch that fails them is refused again when it is
        // repeated.
        guard batch.sequence > sequences[batch.producer] ?? 0 else { return [] }
        try topics.checkCapacity(for: scanned.newTopics.count, of: publisher?.name)
        sequences[batch.producer] = batch.sequence
        let new = try scanned.newTopics.map { try topics.add($0, id: 0, head: 0, of: publisher?.name) }
        return scanned.messages.map { message in
            FeedMessage(
                topic: topics[message.topic.index(amongNew: new)].name, epoch: epoch, offset: 0, previous: 0,
                header: scanned.frame[message.header], data: scanned.frame[message.data],
                origin: scanned.origin(of: message, from: publisher))
        }
    }

    /// Forgets a producer that has ended or is assumed to have ended.
    mutating func leave(_ producer: ProducerID) {
        sequences[producer] = nil
    }
}
