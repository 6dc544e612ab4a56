internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

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
