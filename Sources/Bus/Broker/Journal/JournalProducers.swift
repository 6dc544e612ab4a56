internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

/// How far a producer has been heard: what makes a batch that is sent twice count once.
struct ProducerRow {
    /// A producer that has been silent for this long is forgotten: it will not resend. In milliseconds.
    static let retention: Int64 = 7 * 24 * 60 * 60 * 1000

    /// Beyond it those go that have been silent for longest: each costs memory.
    static let capacity = 100_000

    /// The last batch that was taken.
    var sequence: UInt64
    /// Where that batch ended.
    var offset: UInt64
    /// When that was, or when the producer was last known to live.
    var time: Int64
    /// Whether it has changed in the transaction under way.
    var hasMoved = false
}

extension Journal {
    func loadProducers(_ database: Database) throws {
        producers = [:]
        movedProducers = []
        let rows = try Row.fetchCursor(database, sql: "SELECT id, sequence, offset, time FROM producers")
        while let row = try rows.next() {
            guard let id = ProducerID(stored: row[0]) else { continue }
            producers[id] = ProducerRow(
                sequence: UInt64(clamping: row[1] as Int64), offset: UInt64(clamping: row[2] as Int64), time: row[3])
        }
    }

    /// Remembers how far a producer has been heard. Only inside ``transaction(at:_:)``.
    /// - Parameter time: when; at the time of the transaction unless said.
    func move(_ producer: ProducerID, to sequence: UInt64, offset: UInt64, at time: Int64? = nil) {
        let row = ProducerRow(sequence: sequence, offset: offset, time: time ?? self.time, hasMoved: true)
        if producers.updateValue(row, forKey: producer)?.hasMoved != true { movedProducers.append(producer) }
    }

    /// Writes the row of each producer that has moved.
    func saveMovedProducers() throws {
        for producer in movedProducers {
            producers[producer]?.hasMoved = false
            guard let row = producers[producer] else { continue }
            try producer.withUnsafeBytes { id in
                statements.saveProducer.bind(blob: id, at: 1)
                statements.saveProducer.bind(Int64(clamping: row.sequence), at: 2)
                statements.saveProducer.bind(Int64(clamping: row.offset), at: 3)
                statements.saveProducer.bind(row.time, at: 4)
                try statements.saveProducer.run()
            }
        }
        movedProducers.removeAll(keepingCapacity: true)
    }

    /// Forgets the producers that have been silent for long, or for longest. Only inside ``transaction(at:_:)``.
    /// - Parameter heard: those that live: however long ago they published, they go on where they were.
    func forgetProducers(
        but heard: some Sequence<ProducerID>, keeping capacity: Int = ProducerRow.capacity, _ database: Database
    ) throws {
        isSaveDue = true
        repeated = nil
        for producer in heard {
            guard let row = producers[producer] else { continue }
            move(producer, to: row.sequence, offset: row.offset)
        }
        var limit = time - ProducerRow.retention
        if producers.count > capacity {
            let times = producers.values.map(\.time).sorted()
            limit = max(limit, min(times[times.count - capacity], time))
        }
        try database.execute(sql: "DELETE FROM producers WHERE time < ?", arguments: [limit])
        producers = producers.filter { $0.value.time >= limit }
    }
}

/// A refused batch has used up its sequence: without these, who sends it again because the reply was lost would be told that
/// it is journalled.
extension Journal {
    /// Batches of a producer, counted back from its last refusal, whose refusals are remembered.
    static var refusalCount: UInt64 { 1024 }

    /// Why a batch that was taken before was refused; nil if it was not. Only inside ``transaction(at:_:)``.
    func refusal(of batch: BatchHead, _ database: Database) throws -> ProtocolError? {
        let row = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT code, reason FROM refusals WHERE producer = ? AND sequence = ?"),
            arguments: [batch.producer.stored, Int64(clamping: batch.sequence)])
        return row.map { ProtocolError(.init(rawValue: UInt8(clamping: $0[0] as Int64)), $0[1]) }
    }

    /// Only inside ``transaction(at:_:)``.
    func keep(_ refusal: ProtocolError, of batch: BatchHead, _ database: Database) throws {
        let (producer, sequence) = (batch.producer.stored, Int64(clamping: batch.sequence))
        try database.execute(
            sql: "INSERT OR REPLACE INTO refusals VALUES (?, ?, ?, ?)",
            arguments: [producer, sequence, Int64(refusal.code.rawValue), refusal.message])
        try database.execute(
            sql: "DELETE FROM refusals WHERE producer = ? AND sequence <= ?",
            arguments: [producer, sequence - Int64(Self.refusalCount)])
    }
}

/// Where the last batches of one producer ended, as the messages tell.
struct RepeatedBatches {
    let producer: ProducerID
    /// The producer's last batch when they were looked up.
    let last: UInt64
    /// The offset of the last message, by the batch's sequence.
    let ends: [UInt64: UInt64]

    /// Rows, and bytes of messages, that are looked at for one producer.
    static let rowCount = 4096
    static let size = Limits.maximumFrameSize
}

extension Journal {
    /// Where a batch ended that is sent again. Whoever sends one again mostly sends several, so that they are looked up in
    /// one go, and kept for the next one.
    /// - Parameter last: the producer's last batch. Its end is the answer for a batch that left no message, or that is too
    ///   far back.
    func end(ofRepeated batch: BatchHead, last: ProducerRow, _ database: Database) throws -> UInt64 {
        guard batch.sequence < last.sequence else { return last.offset }
        if let repeated, repeated.producer == batch.producer, batch.sequence <= repeated.last {
            return repeated.ends[batch.sequence] ?? last.offset
        }
        var ends: [UInt64: UInt64] = [:]
        var size = 0
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT offset, length(header) + length(data), producer, sequence FROM messages
                    WHERE offset <= ? ORDER BY offset DESC LIMIT ?
                    """),
            arguments: [Int64(clamping: last.offset), RepeatedBatches.rowCount])
        while size < RepeatedBatches.size, let row = try rows.next() {
            size += row[1]
            guard let producer = row[2] as Data?, producer == batch.producer.stored else { continue }
            // A producer that was forgotten has begun anew: the newest batch counts.
            let sequence = Self.number(row, 3)
            if ends[sequence] == nil { ends[sequence] = Self.number(row, 0) }
        }
        repeated = RepeatedBatches(producer: batch.producer, last: last.sequence, ends: ends)
        return ends[batch.sequence] ?? last.offset
    }
}

extension ProducerID {
    /// Nil unless the column holds an id.
    init?(stored: Data) {
        var reader = ByteReader(Array(stored))
        guard let id = try? ProducerID(&reader), reader.isAtEnd else { return nil }
        self = id
    }

    var stored: Data { withUnsafeBytes { Data($0) } }
}
