internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

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
