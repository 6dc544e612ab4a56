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
    /// The user; nil on a bus without keys.
    var publisher: String?
    /// True if the row has changed since the table was last saved.
    var hasMoved = false
}

/// The producers of the journal, the refusals of their batches, and the offsets at which their last batches ended.
struct ProducerTable {
    /// The refusals of a producer are kept for this number of batches, counted back from the last one that was refused.
    static var refusalCount: UInt64 { 1024 }

    private(set) var rows: [ProducerID: ProducerRow] = [:]
    /// The number of producers of each user.
    private var counts = UserCounts()
    /// The producers whose row has changed since the table was last saved.
    private var moved: [ProducerID] = []
    /// The ends of the last batches of the producer that most recently repeated one; nil if none has.
    private var repeated: RepeatedBatches?
    private let saveRow: RawStatement<Parameter>

    private enum Parameter: Int32, StatementParameter {
        case id = 1
        case sequence, offset, time, publisher
    }

    init(_ database: Database) throws {
        saveRow = try RawStatement(
            "INSERT OR REPLACE INTO producers VALUES (:id, :sequence, :offset, :time, :publisher)", database)
    }

    mutating func load(_ database: Database) throws {
        (rows, counts) = ([:], UserCounts())
        moved = []
        repeated = nil
        let cursor = try Row.fetchCursor(database, sql: "SELECT id, sequence, offset, time, publisher FROM producers")
        while let row = try cursor.next() {
            guard let id = ProducerID(stored: try row.value("id")) else { continue }
            let publisher: String? = try row.value("publisher")
            rows[id] = ProducerRow(
                sequence: try row.number("sequence"), offset: try row.number("offset"), time: try row.number("time"),
                publisher: publisher)
            if let publisher { counts.add(1, to: publisher) }
        }
    }

    subscript(producer: ProducerID) -> ProducerRow? { rows[producer] }

    /// True if some user has more producers than `limit`, and so many that forgetting them is worth the work.
    func hasTooMany(limit: Int) -> Bool { !counts.above(limit + limit / 8).isEmpty }

    /// Sets the last batch of a producer.
    /// - Parameter publisher: Nil on a bus without keys.
    mutating func move(
        _ producer: ProducerID, to sequence: UInt64, offset: UInt64, at time: Int64, of publisher: String?
    ) {
        let row = ProducerRow(sequence: sequence, offset: offset, time: time, publisher: publisher, hasMoved: true)
        let old = rows.updateValue(row, forKey: producer)
        if old?.hasMoved != true { moved.append(producer) }
        if old == nil, let publisher { counts.add(1, to: publisher) }
    }

    /// Writes the rows of the producers that have changed.
    mutating func save(in _: borrowing Journal.Transaction) throws {
        for producer in moved {
            rows[producer]?.hasMoved = false
            guard let row = rows[producer] else { continue }
            try producer.withUnsafeBytes { id in
                saveRow.bind(blob: id, to: .id)
                saveRow.bind(Int64(clamping: row.sequence), to: .sequence)
                saveRow.bind(Int64(clamping: row.offset), to: .offset)
                saveRow.bind(row.time, to: .time)
                guard var publisher = row.publisher else {
                    saveRow.bindNull(to: .publisher)
                    return try saveRow.run()
                }
                try publisher.withUTF8 { publisher in
                    saveRow.bind(text: UnsafeRawBufferPointer(publisher), to: .publisher)
                    try saveRow.run()
                }
            }
        }
        moved.removeAll(keepingCapacity: true)
    }

    /// Forgets the producers that have been silent for ``ProducerRow/retention``, and those that have been silent for
    /// longest if there are more than `capacity`, or if their user has more than `limit`.
    /// - Parameter alive: The producers that are alive. They are kept, however long ago they published.
    mutating func forget(
        but alive: some Sequence<ProducerID>, keeping capacity: Int, ofEach limit: Int,
        in transaction: borrowing Journal.Transaction
    ) throws {
        repeated = nil
        var living: Set<ProducerID> = []
        for producer in alive {
            guard let row = rows[producer] else { continue }
            living.insert(producer)
            move(producer, to: row.sequence, offset: row.offset, at: transaction.time, of: row.publisher)
        }
        for (publisher, count) in counts.above(limit) {
            try forgetSilent(count - limit, of: publisher, but: living, in: transaction)
        }
        let oldest = oldestTime(keeping: capacity, at: transaction.time)
        try transaction.database.execute(
            sql: "DELETE FROM producers WHERE time < :limit", arguments: ["limit": oldest])
        rows = rows.filter { $0.value.time >= oldest }
        counts = UserCounts(rows.values.compactMap(\.publisher))
    }

    /// Forgets the producers of one user that have been silent for longest.
    private mutating func forgetSilent(
        _ count: Int, of publisher: String, but alive: Set<ProducerID>, in transaction: borrowing Journal.Transaction
    ) throws {
        let silent = rows.filter { $0.value.publisher == publisher && !alive.contains($0.key) }
        let delete = try transaction.database.cachedStatement(sql: "DELETE FROM producers WHERE id = :id")
        for (producer, _) in silent.sorted(by: { $0.value.time < $1.value.time }).prefix(count) {
            rows[producer] = nil
            try delete.execute(arguments: ["id": producer.stored])
        }
    }

    /// The time of the last batch before which a producer is forgotten.
    private func oldestTime(keeping capacity: Int, at now: Int64) -> Int64 {
        let limit = now - ProducerRow.retention
        guard rows.count > capacity else { return limit }
        let times = rows.values.map(\.time).sorted()
        return max(limit, min(times[times.count - capacity], now))
    }

    /// The refusal of a batch that was sent before; nil if it was not refused.
    func refusal(of batch: BatchHead, in transaction: borrowing Journal.Transaction) throws -> ProtocolError? {
        let row = try Row.fetchOne(
            transaction.database.cachedStatement(
                sql: "SELECT code, reason FROM refusals WHERE producer = :producer AND sequence = :sequence"),
            arguments: ["producer": batch.producer.stored, "sequence": Int64(clamping: batch.sequence)])
        return try row.map { ProtocolError(.init(rawValue: try $0.number("code")), try $0.value("reason")) }
    }

    /// Keeps a refusal, so that the batch is refused again if its publisher sends it again.
    func keep(
        _ refusal: ProtocolError, of batch: BatchHead, in transaction: borrowing Journal.Transaction
    ) throws {
        let (producer, sequence) = (batch.producer.stored, Int64(clamping: batch.sequence))
        try transaction.database.execute(
            sql: "INSERT OR REPLACE INTO refusals VALUES (:producer, :sequence, :code, :reason)",
            arguments: [
                "producer": producer, "sequence": sequence, "code": Int64(refusal.code.rawValue),
                "reason": refusal.message,
            ])
        try transaction.database.execute(
            sql: "DELETE FROM refusals WHERE producer = :producer AND sequence <= :last",
            arguments: ["producer": producer, "last": sequence - Int64(Self.refusalCount)])
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
        let ends = try Self.ends(ofBatchesOf: batch.producer, through: last.offset, transaction.database)
        repeated = RepeatedBatches(producer: batch.producer, last: last.sequence, ends: ends)
        return ends[batch.sequence] ?? last.offset
    }

    /// The offsets at which the last batches of a producer ended, by their sequences.
    private static func ends(
        ofBatchesOf producer: ProducerID, through offset: UInt64, _ database: Database
    ) throws -> [UInt64: UInt64] {
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT offset, length(header) + length(data) AS size, producer, sequence FROM messages
                    WHERE offset <= :last ORDER BY offset DESC LIMIT :count
                    """),
            arguments: ["last": Int64(clamping: offset), "count": RepeatedBatches.rowCount])
        let stored = producer.stored
        var ends: [UInt64: UInt64] = [:]
        var size = 0
        while size < RepeatedBatches.size, let row = try rows.next() {
            size += try row.number("size")
            guard try row.value("producer", as: Data?.self) == stored else { continue }
            // A producer that was forgotten has numbered its batches from 1 again: of two batches with one sequence the
            // newest counts.
            let sequence: UInt64 = try row.number("sequence")
            if ends[sequence] == nil { ends[sequence] = try row.number("offset") }
        }
        return ends
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
