internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

/// The last batch of a producer. The broker compares it with each batch, so that a batch that is sent twice is recorded
/// once.
struct ProducerRow {
    /// The milliseconds of silence after which a producer is forgotten.
    static let retention: Int64 = 7 * 24 * 60 * 60 * 1000

    /// The maximum number of producers. Beyond it, the producers that have been silent for longest are forgotten,
    /// except those that are alive.
    static let capacity = 100_000

    /// The sequence of the last batch that was recorded or refused.
    var sequence: UInt64
    /// The offset at which the last recorded batch ended.
    var offset: UInt64
    /// The time of the last batch, or the last time at which the producer was known to be alive, in milliseconds since
    /// 1970.
    var time: Int64
    /// True if the row has changed since the table was last saved.
    var hasMoved = false
}

/// The producers of the journal, the refusals of their batches, and the offsets at which their last batches ended.
struct ProducerTable {
    /// The refusals of a producer are kept for this number of batches, counted back from the last one that was refused.
    static var refusalCount: UInt64 { 1024 }

    private(set) var rows: [ProducerID: ProducerRow] = [:]
    /// The producers whose row has changed since the table was last saved.
    private var moved: [ProducerID] = []
    /// The ends of the last batches of the producer that most recently repeated one; nil if none has.
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
            guard let id = ProducerID(stored: try row.value(0)) else { continue }
            rows[id] = ProducerRow(
                sequence: try row.number(1), offset: try row.number(2), time: try row.number(3))
        }
    }

    subscript(producer: ProducerID) -> ProducerRow? { rows[producer] }

    /// Sets the last batch of a producer.
    mutating func move(_ producer: ProducerID, to sequence: UInt64, offset: UInt64, at time: Int64) {
        let row = ProducerRow(sequence: sequence, offset: offset, time: time, hasMoved: true)
        if rows.updateValue(row, forKey: producer)?.hasMoved != true { moved.append(producer) }
    }

    /// Writes the rows of the producers that have changed.
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

    /// Forgets the producers that have been silent for ``ProducerRow/retention``, and those that have been silent for
    /// longest if there are more than `capacity`.
    /// - Parameter alive: The producers that are alive. They are kept, however long ago they published.
    mutating func forget(
        but alive: some Sequence<ProducerID>, keeping capacity: Int, in transaction: borrowing Journal.Transaction
    ) throws {
        repeated = nil
        for producer in alive {
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

    /// The refusal of a batch that was sent before; nil if it was not refused.
    func refusal(of batch: BatchHead, in transaction: borrowing Journal.Transaction) throws -> ProtocolError? {
        let row = try Row.fetchOne(
            transaction.database.cachedStatement(
                sql: "SELECT code, reason FROM refusals WHERE producer = ? AND sequence = ?"),
            arguments: [batch.producer.stored, Int64(clamping: batch.sequence)])
        return try row.map { ProtocolError(.init(rawValue: try $0.number(0)), try $0.value(1)) }
    }

    /// Keeps a refusal, so that the batch is refused again if its publisher sends it again.
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

    /// Returns the offset at which a repeated batch ended when it was recorded. The ends of several batches are looked
    /// up together and kept.
    /// - Parameter last: The last batch of the producer. Its end is the answer for a batch without messages, and for a
    ///   batch that is not among the examined rows.
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
            size += try row.number(1)
            guard let producer = try row.value(2, as: Data?.self), producer == batch.producer.stored else { continue }
            // A producer that was forgotten has numbered its batches from 1 again: of two batches with one sequence the
            // newest counts.
            let sequence: UInt64 = try row.number(3)
            if ends[sequence] == nil { ends[sequence] = try row.number(0) }
        }
        repeated = RepeatedBatches(producer: batch.producer, last: last.sequence, ends: ends)
        return ends[batch.sequence] ?? last.offset
    }
}

/// The offsets at which the last batches of one producer ended, read from the messages.
private struct RepeatedBatches {
    let producer: ProducerID
    /// The sequence of the producer's last batch at the time of the look-up.
    let last: UInt64
    /// The offset of the last message of each batch, by its sequence.
    let ends: [UInt64: UInt64]

    /// The maximum number of rows that a look-up examines.
    static let rowCount = 4096
    /// The size of the examined messages, in bytes, at which a look-up ends.
    static let size = Limits.maximumFrameSize
}

extension ProducerID {
    /// Nil if the column does not hold an id.
    init?(stored: Data) {
        var reader = ByteReader(Array(stored))
        guard let id = try? ProducerID(&reader), reader.isAtEnd else { return nil }
        self = id
    }

    var stored: Data { withUnsafeBytes { Data($0) } }
}
