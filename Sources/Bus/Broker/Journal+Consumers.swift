internal import BusProtocol
internal import Foundation
internal import GRDB

extension Journal {
    /// Gives a durable consumer to a new owner and fences the one before. The same token gets the same answer.
    func claim(_ request: ClaimRequest) throws -> ConsumerRow {
        var claimed = ConsumerRow(ownerEpoch: 1, token: request.token.stored, offset: 0)
        try transaction { database in
            if let row = try consumer(request.consumer, database) {
                let isRepeated = row.token == request.token.stored
                claimed.ownerEpoch = isRepeated ? row.ownerEpoch : row.ownerEpoch + 1
                claimed.offset = row.offset
            }
            try database.execute(
                sql: "INSERT OR REPLACE INTO consumers VALUES (?, ?, ?, ?)",
                arguments: [request.consumer, Int64(claimed.ownerEpoch), claimed.token, Int64(claimed.offset)])
        }
        return claimed
    }

    /// Records progress. Only inside ``transaction(_:)``.
    /// - Throws: ``ProtocolError`` with code `fenced` or `epoch`.
    func save(_ checkpoint: CheckpointFrame, _ database: Database) throws {
        guard checkpoint.epoch == epoch else {
            throw ProtocolError(.epoch, "the checkpoint of \(checkpoint.consumer) is for another journal")
        }
        guard let row = try consumer(checkpoint.consumer, database), row.ownerEpoch == checkpoint.ownerEpoch else {
            throw ProtocolError(.fenced, "another process has taken \(checkpoint.consumer) over")
        }
        try database.cachedStatement(sql: "UPDATE consumers SET offset = ? WHERE name = ?")
            .execute(arguments: [Int64(clamping: max(checkpoint.offset, row.offset)), checkpoint.consumer])
    }

    private func consumer(_ name: String, _ database: Database) throws -> ConsumerRow? {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT owner_epoch, token, offset FROM consumers WHERE name = ?"),
            arguments: [name]
        ).map { ConsumerRow(ownerEpoch: UInt64($0[0] as Int64), token: $0[1], offset: UInt64($0[2] as Int64)) }
    }
}
