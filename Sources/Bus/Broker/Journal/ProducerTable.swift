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
    /// Whether it has changed since the table was last saved.
    var hasMoved = false
}

/// The producers of the journal, why batches of theirs were refused, and where their last ones ended.
struct ProducerTable {
    /// Batches of a producer, counted back from its last refusal, whose refusals are remembered.
    static var refusalCount: UInt64 { 1024 }

    private(set) var rows: [ProducerID: ProducerRow] = [:]
    /// Those whose row has changed since the table was last saved.
    private var moved: [ProducerID] = []
    /// Where the batches of a producer ended that has sent some again.
    private var repeated: RepeatedBatches?
    private let saveRow: RawStatement

    init(_ database: Database) throws {
        saveRow = try RawStatement("INSERT OR REPLACE INTO producers VALUES (?, ?, ?, ?)", database)
    }

    mutating func load(_ database: Database) throws {
        rows = [:]
        moved = []
        repeated = nil
        let cursor = try Row.fetchCursor(database, sql: "SELECT id, sequence, offset, time FROM producers")
        while let row = try cursor.next() {
            guard let id = ProducerID(stored: row[0]) else { continue }
            rows[id] = ProducerRow(sequence: row.number(1), offset: row.number(2), time: row[3])
        }
    }

    subscript(producer: ProducerID) -> ProducerRow? { rows[producer] }

    /// Remembers how far a producer has been heard.
    mutating func move(_ producer: ProducerID, to sequence: UInt64, offset: UInt64, at time: Int64) {
        let row = ProducerRow(sequence: sequence, offset: offset, time: time, hasMoved: true)
        if rows.updateValue(row, forKey: producer)?.hasMoved != true { moved.append(producer) }
    }

    /// Writes the row of each producer that has moved.
    mutating func save(in _: borrowing Journal.Transaction) throws {
        for producer in moved {
            rows[producer]?.hasMoved = false
            guard let row = rows[producer] else { continue }
            try producer.withUnsafeBytes { id in
                saveRow.bind(blob: id, at: 1)
                saveRow.bind(Int64(clamping: row.sequence), at: 2)
                saveRow.bind(Int64(clamping: row.offset), at: 3)
                saveRow.bind(row.time, at: 4)
                try saveRow.run()
            }
        }
        moved.removeAll(keepingCapacity: true)
    }

    /// Forgets the producers that have been silent for long, or for longest.
    /// - Parameter heard: those that live: however long ago they published, they go on where they were.
    mutating func forget(
        but heard: some Sequence<ProducerID>, keeping capacity: Int, in transaction: borrowing Journal.Transaction
    ) throws {
        repeated = nil
        for producer in heard {
            guard let row = rows[producer] else { continue }
            move(producer, to: row.sequence, offset: row.offset, at: transaction.time)
        }
        var limit = transaction.time - ProducerRow.retention
        if rows.count > capacity {
            let times = rows.values.map(\.time).sorted()
            limit = max(limit, min(times[times.count - capacity], transaction.time))
        }
        try transaction.database.execute(sql: "DELETE FROM producers WHERE time < ?", arguments: [limit])
        rows = rows.filter { $0.value.time >= limit }
    }

    /// Why a batch that was taken before was refused; nil if it was not.
    func refusal(of batch: BatchHead, in transaction: borrowing Journal.Transaction) throws -> ProtocolError? {
        let row = try Row.fetchOne(
            transaction.database.cachedStatement(
                sql: "SELECT code, reason FROM refusals WHERE producer = ? AND sequence = ?"),
            arguments: [batch.producer.stored, Int64(clamping: batch.sequence)])
        return row.map { ProtocolError(.init(rawValue: UInt8(clamping: $0[0] as Int64)), $0[1]) }
    }

    /// Remembers a refusal. A refused batch has used up its sequence: without this, who sends it again because the reply was
    /// lost would be told that it is journalled.
    func keep(
        _ refusal: ProtocolError, of batch: BatchHead, in transaction: borrowing Journal.Transaction
    ) throws {
        let (producer, sequence) = (batch.producer.stored, Int64(clamping: batch.sequence))
        try transaction.database.execute(
            sql: "INSERT OR REPLACE INTO refusals VALUES (?, ?, ?, ?)",
            arguments: [producer, sequence, Int64(refusal.code.rawValue), refusal.message])
        try transaction.database.execute(
            sql: "DELETE FROM refusals WHERE producer = ? AND sequence <= ?",
            arguments: [producer, sequence - Int64(Self.refusalCount)])
    }

    /// Where a batch ended that is sent again. Whoever sends one again mostly sends several, so that they are looked up in
    /// one go, and kept for the next one.
    /// - Parameter last: the producer's last batch. Its end is the answer for a batch that left no message, or that is too
    ///   far back.
    mutating func end(
        ofRepeated batch: BatchHead, last: ProducerRow, in transaction: borrowing Journal.Transaction
    ) throws -> UInt64 {
        guard batch.sequence < last.sequence else { return last.offset }
        if let repeated, repeated.producer == batch.producer, batch.sequence <= repeated.last {
            return repeated.ends[batch.sequence] ?? last.offset
        }
        var ends: [UInt64: UInt64] = [:]
        var size = 0
        let rows = try Row.fetchCursor(
            transaction.database.cachedStatement(
                sql: """
                    SELECT offset, length(header) + length(data), producer, sequence FROM messages
                    WHERE offset <= ? ORDER BY offset DESC LIMIT ?
                    """),
            arguments: [Int64(clamping: last.offset), RepeatedBatches.rowCount])
        while size < RepeatedBatches.size, let row = try rows.next() {
            size += row[1]
            guard let producer = row[2] as Data?, producer == batch.producer.stored else { continue }
            // A producer that was forgotten has begun anew: the newest batch counts.
            let sequence = row.number(3)
            if ends[sequence] == nil { ends[sequence] = row.number(0) }
        }
        repeated = RepeatedBatches(producer: batch.producer, last: last.sequence, ends: ends)
        return ends[batch.sequence] ?? last.offset
    }
}

/// Where the last batches of one producer ended, as the messages tell.
private struct RepeatedBatches {
    let producer: ProducerID
    /// The producer's last batch when they were looked up.
    let last: UInt64
    /// The offset of the last message, by the batch's sequence.
    let ends: [UInt64: UInt64]

    /// Rows, and bytes of messages, that are looked at for one producer.
    static let rowCount = 4096
    static let size = Limits.maximumFrameSize
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
