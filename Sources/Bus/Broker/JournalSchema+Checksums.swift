internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

extension JournalSchema {
    /// Gives the rows of a journal of the first version, whose checksum was FNV-1a, the checksum of today. A row that was
    /// damaged keeps what it has, and so stays damaged.
    static func rewriteChecksums(_ database: Database) throws {
        let update = try database.makeStatement(sql: "UPDATE messages SET checksum = ? WHERE offset = ?")
        var last: Int64 = 0
        while true {
            // A cursor over rows that are being changed may see some of them twice.
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT offset, previous, name, header, data, checksum
                    FROM messages JOIN topics ON topics.id = messages.topic WHERE offset > ? ORDER BY offset LIMIT 1000
                    """,
                arguments: [last])
            guard let end = rows.last else { return }
            last = end[0]
            for row in rows {
                let (old, new) = checksums(row)
                if row[5] == old { try update.execute(arguments: [new, row[0] as Int64]) }
            }
        }
    }

    private static func checksums(_ row: Row) -> (old: Int64, new: Int64) {
        let (offset, previous) = (UInt64(bitPattern: row[0]), UInt64(bitPattern: row[1]))
        let name: String = row[2]
        let (header, data): (Data, Data) = (row[3], row[4])
        var hash = Hash()
        for number in [offset, previous] {
            withUnsafeBytes(of: number.bigEndian) { hash.combine($0) }
        }
        hash.combine(name.utf8)
        hash.combine(header)
        hash.combine(data)
        let new = header.withUnsafeBytes { header in
            data.withUnsafeBytes { data in
                Checksum.of(
                    topic: Array(name.utf8).withUnsafeBytes { XXH64.hash($0) }, offset: offset, previous: previous,
                    header: header, data: data)
            }
        }
        return (Int64(bitPattern: hash.value), new)
    }
}
