internal import EventBus
internal import GRDB

extension Journal {
    func loadCutOffs(_ database: Database) throws -> [String: [CutOffRow]] {
        var cutOffs: [String: [CutOffRow]] = [:]
        let sql = "SELECT consumer, type, owner_epoch, count, first, last FROM cut_offs"
        for row in try Row.fetchAll(database, sql: sql) {
            let (first, last) = (Self.number(row, 4), Self.number(row, 5))
            guard let type = MessageType(row[1] as String), first <= last else { continue }
            let cutOff = CutOff(type: type, count: row[3], offsets: first...last)
            cutOffs[row[0], default: []].append(CutOffRow(cutOff: cutOff, ownerEpoch: Self.number(row, 2)))
        }
        return cutOffs
    }

    /// Only inside ``transaction(at:_:)``.
    func saveCutOffs(_ rows: [CutOffRow], of consumer: String, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM cut_offs WHERE consumer = ?", arguments: [consumer])
        for row in rows {
            try database.execute(
                sql: "INSERT INTO cut_offs VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    consumer, row.cutOff.type.description, Int64(clamping: row.ownerEpoch), row.cutOff.count,
                    Int64(clamping: row.cutOff.offsets.lowerBound), Int64(clamping: row.cutOff.offsets.upperBound),
                ])
        }
    }
}
