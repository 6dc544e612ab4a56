internal import BusProtocol
internal import GRDB

/// How far a producer has been heard: what makes a batch that is sent twice count once.
struct ProducerRow {
    /// The last batch that was taken.
    var sequence: UInt64
    /// Where that batch ended.
    var offset: UInt64

    /// A producer that has been silent for this long is forgotten: it will not resend. In milliseconds.
    private static let retention: Int64 = 7 * 24 * 60 * 60 * 1000

    static func all(_ database: Database) throws -> [ProducerID: ProducerRow] {
        try database.execute(sql: "DELETE FROM producers WHERE time < ?", arguments: [Journal.now - retention])
        var producers: [ProducerID: ProducerRow] = [:]
        let rows = try Row.fetchCursor(database, sql: "SELECT id, sequence, offset FROM producers")
        while let row = try rows.next() {
            guard let id = ProducerID(stored: row[0]) else { continue }
            producers[id] = ProducerRow(sequence: UInt64(row[1] as Int64), offset: UInt64(row[2] as Int64))
        }
        return producers
    }
}
