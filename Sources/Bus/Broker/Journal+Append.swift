internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

extension Journal {
    /// Appends a batch, unless it was taken before. Only inside ``transaction(at:_:)``.
    /// - Parameter feed: gets the messages as they go out.
    /// - Returns: where the batch ended.
    /// - Throws: ``ProtocolError`` when the batch is refused: nothing of it is left, and the transaction goes on. What SQLite
    ///   throws ends the transaction.
    func append(_ batch: BatchHead, to feed: inout [FeedMessage], _ database: Database) throws -> UInt64 {
        let known = producers[batch.producer] ?? ProducerRow(sequence: 0, offset: head, time: time)
        guard batch.sequence > known.sequence else {
            if let refusal = try refusal(of: batch, database) { throw refusal }
            return try end(ofRepeated: batch, last: known, database)
        }
        guard batch.sequence == known.sequence + 1 else {
            throw ProtocolError(.sequence, "batch \(known.sequence + 1) is expected, not \(batch.sequence)")
        }
        let start = head
        do {
            try take(batch, to: &feed, database)
        } catch let refusal as ProtocolError {
            // It counts as taken: its publisher is told, and goes on with the next.
            move(batch.producer, to: batch.sequence, offset: known.offset)
            isSaveDue = true
            try keep(refusal, of: batch, database)
            throw refusal
        }
        // Its last message tells that it was taken, if there is one.
        isSaveDue = isSaveDue || head == start
        move(batch.producer, to: batch.sequence, offset: head)
        return head
    }

    private func take(_ batch: BatchHead, to feed: inout [FeedMessage], _ database: Database) throws {
        // All that can be refused is, before anything is written.
        let content = try BatchContent(of: batch)
        let messages = try ScannedBatch(content.messages, count: batch.count, topics: topics)
        try topics.checkCapacity(for: messages.newTopics.count)
        if try check(content.checkpoint) { return }
        try checkLetters(of: content, database)
        try settleLetters(content.settledLetters, database)
        if let checkpoint = content.checkpoint {
            try content.rejection.map { try keepLetter(checkpoint, $0, database) }
            try save(checkpoint, database)
        }
        try append(messages, of: batch, to: &feed, database)
    }

    /// Appends one message of the broker's own. Only inside ``transaction(at:_:)``.
    func append(_ message: PublishedMessage, to feed: inout [FeedMessage], _ database: Database) throws {
        let messages = try ScannedBatch(PackedMessages([message]).bytes, count: 1, topics: topics)
        try topics.checkCapacity(for: messages.newTopics.count)
        try append(messages, of: nil, to: &feed, database)
    }

    /// - Parameter sender: nil for a batch of the broker's own.
    private func append(
        _ batch: ScannedBatch, of sender: BatchHead?, to feed: inout [FeedMessage], _ database: Database
    ) throws {
        let new = try batch.newTopics.map { try add($0, database) }
        let owner = sender.flatMap { $0.isLeased ? $0.producer : nil }
        let insert = statements.insertMessage
        try batch.frame.withUnsafeBytes { frame in
            func append(_ message: ScannedMessage) throws {
                let index = message.topic.index(amongNew: new)
                feed.append(try self.append(message, topic: index, owner: owner, batch, frame))
            }
            insert.bindNull(at: 8)
            insert.bindNull(at: 9)
            try batch.messages.dropLast().forEach(append)
            guard let last = batch.messages.last else { return }
            guard let sender else { return try append(last) }
            try sender.producer.withUnsafeBytes { producer in
                insert.bind(blob: producer, at: 8)
                insert.bind(Int64(clamping: sender.sequence), at: 9)
                try append(last)
            }
        }
    }

    private func append(
        _ message: ScannedMessage, topic index: Int, owner: ProducerID?, _ batch: ScannedBatch,
        _ frame: UnsafeRawBufferPointer
    ) throws -> FeedMessage {
        let topic = topics[index]
        let (offset, previous) = (head + 1, topic.head)
        let header = UnsafeRawBufferPointer(rebasing: frame[message.header])
        let data = UnsafeRawBufferPointer(rebasing: frame[message.data])
        let insert = statements.insertMessage
        insert.bind(Int64(offset), at: 1)
        insert.bind(topic.id, at: 2)
        insert.bind(Int64(previous), at: 3)
        insert.bind(time, at: 4)
        insert.bind(blob: header, at: 5)
        insert.bind(blob: data, at: 6)
        let checksum = Checksum.of(
            topic: topic.hash, offset: offset, previous: previous, header: header, data: data)
        insert.bind(checksum, at: 7)
        try insert.run()
        if topic.isDocument {
            let identity = DocumentIdentity(
                type: topic.type, subject: UnsafeRawBufferPointer(rebasing: frame[message.subject]),
                key: UnsafeRawBufferPointer(rebasing: frame[message.key]))
            try retain(identity, isWithdrawn: data.isEmpty, offset: offset, owner: owner)
        }
        let previousInPartition = topics.head(of: topic.partition)
        head = offset
        topics.move(index, to: offset)
        return FeedMessage(
            topic: topic.name, epoch: epoch, offset: offset, previous: previous,
            previousInPartition: previousInPartition, header: batch.frame[message.header],
            data: batch.frame[message.data])
    }

    private func add(_ topic: Topic, _ database: Database) throws -> Int {
        try database.execute(sql: "INSERT INTO topics (name, head) VALUES (?, 0)", arguments: [topic.name])
        return try topics.add(topic, id: database.lastInsertedRowID, head: 0)
    }
}
