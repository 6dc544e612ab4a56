internal import BusProtocol
internal import EventBus

extension BrokerEngine {
    /// Journals the batches of a turn in one transaction.
    mutating func publish(_ batches: [IncomingBatch], now: ContinuousClock.Instant, _ outgoing: inout Outgoing) {
        guard !batches.isEmpty else { return }
        var feed: [FeedMessage] = []
        var replies: [Reply] = []
        do {
            try journal.transaction(at: clock.time(at: now)) { database in
                for batch in batches {
                    do {
                        let offset = try journal.append(batch.batch, to: &feed, database)
                        replies.append(.published(epoch: journal.epoch, offset: offset))
                    } catch let refusal as ProtocolError {
                        replies.append(.refused(refusal))
                    }
                }
            }
            outgoing.feed += feed
        } catch {
            let refusal = error as? ProtocolError ?? ProtocolError(.journal, "\(error)")
            replies = batches.map { _ in .refused(refusal) }
        }
        for (batch, reply) in zip(batches, replies) {
            heard[batch.batch.producer] = now
            outgoing.reply(reply, to: batch.from, batch.head)
        }
    }

    /// Hands transient batches on to whoever listens now.
    mutating func passOn(_ batches: [IncomingBatch], now: ContinuousClock.Instant, _ outgoing: inout Outgoing) {
        for batch in batches {
            heard[batch.batch.producer] = now
            do {
                try passOn(batch.batch, to: &outgoing.feed)
                outgoing.reply(.published(epoch: journal.epoch, offset: 0), to: batch.from, batch.head)
            } catch {
                outgoing.reply(.refused(refusal(error)), to: batch.from, batch.head)
            }
        }
    }

    private mutating func passOn(_ batch: BatchHead, to feed: inout [FeedMessage]) throws {
        let content = try BatchContent(of: batch)
        let scanned = try ScannedBatch(content.messages, count: batch.count, topics: transientTopics)
        guard !scanned.hasDocuments else {
            throw ProtocolError(.topic, "documents cannot be transient: they are retained")
        }
        // No journal has them to be read from, so they are on the feed whole.
        guard scanned.messages.allSatisfy({ $0.header.count + $0.data.count <= Limits.feedSize }) else {
            throw ProtocolError(.tooLarge, "a transient message has at most \(Limits.feedSize) bytes")
        }
        // Behind what can be refused: a batch that is refused is refused each time.
        guard batch.sequence > transientSequences[batch.producer] ?? 0 else { return }
        transientSequences[batch.producer] = batch.sequence
        guard transientTopics.entries.count + scanned.newTopics.count <= TopicTable.capacity else {
            throw ProtocolError(.tooLarge, "there are \(TopicTable.capacity) topics already: use fewer types")
        }
        let new = try scanned.newTopics.map { try transientTopics.add($0, id: 0, head: 0) }
        for message in scanned.messages {
            let topic = transientTopics[message.topic.index(amongNew: new)]
            feed.append(
                FeedMessage(
                    topic: topic.name, epoch: journal.epoch, offset: 0, previous: 0,
                    header: scanned.frame[message.header], data: scanned.frame[message.data]))
        }
    }

    func refusal(_ error: any Error) -> ProtocolError {
        error as? ProtocolError ?? ProtocolError(.journal, "\(error)")
    }
}
