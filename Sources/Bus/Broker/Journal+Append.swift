internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

extension Journal {
    /// Appends a batch, unless it was taken before. Only inside ``transaction(_:)``.
    /// - Throws: ``ProtocolError`` when the batch is refused: nothing of it is left, and the transaction goes on. What SQLite
    ///   throws ends the transaction.
    func append(_ request: PublishRequest, _ database: Database) throws -> Appended {
        let known = producers[request.producer] ?? ProducerRow(sequence: 0, offset: head)
        guard request.sequence > known.sequence else { return Appended(messages: [], offset: known.offset) }
        guard request.sequence == known.sequence + 1 else {
            throw ProtocolError(.sequence, "batch \(known.sequence + 1) is expected, not \(request.sequence)")
        }
        // A refused batch counts as taken: its publisher is told, and goes on with the next.
        try record(request.producer, ProducerRow(sequence: request.sequence, offset: known.offset), database)
        let topics = try request.messages.map { try $0.validated() }
        if let checkpoint = request.checkpoint {
            try save(checkpoint, database)
        }
        let owner = request.isLeased ? request.producer : nil
        let messages = try zip(request.messages, topics).map { try append($0, on: $1, owner: owner, database) }
        try record(request.producer, ProducerRow(sequence: request.sequence, offset: head), database)
        return Appended(messages: messages, offset: head)
    }

    /// Appends one message that is known to be valid. Only inside ``transaction(_:)``.
    func append(
        _ message: PublishedMessage, on topic: Topic, owner: ProducerID?, _ database: Database
    ) throws -> FeedMessage {
        let offset = head + 1
        let row = try topicRow(message.topic, database)
        let appended = FeedMessage(
            topic: message.topic, epoch: epoch, offset: offset, previous: row.head, header: message.header,
            data: message.data)
        try database.cachedStatement(sql: "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)").execute(arguments: [
            Int64(offset), row.id, Int64(row.head), Self.now, Data(message.header), Data(message.data),
            appended.checksum,
        ])
        if topic.type.kind == .document {
            try retain(message, on: topic, offset: offset, owner: owner, database)
        }
        head = offset
        topics[message.topic] = TopicRow(id: row.id, head: offset)
        movedTopics.insert(message.topic)
        return appended
    }

    private func topicRow(_ name: String, _ database: Database) throws -> TopicRow {
        if let row = topics[name] { return row }
        try database.execute(sql: "INSERT INTO topics (name, head) VALUES (?, 0)", arguments: [name])
        return TopicRow(id: database.lastInsertedRowID, head: 0)
    }

    private func record(_ producer: ProducerID, _ row: ProducerRow, _ database: Database) throws {
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO producers VALUES (?, ?, ?, ?)").execute(arguments: [
            producer.stored, Int64(row.sequence), Int64(row.offset), Self.now,
        ])
        producers[producer] = row
    }
}
