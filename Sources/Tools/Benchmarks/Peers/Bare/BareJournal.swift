internal import GRDBSQLite

/// Writes rows like those of the journal to SQLite, without a bus: 100 rows per transaction, with one prepared
/// statement.
struct BareJournal {
    private static let schema = """
        PRAGMA journal_mode = WAL;
        CREATE TABLE messages (
            offset INTEGER PRIMARY KEY, topic INTEGER NOT NULL, previous INTEGER NOT NULL,
            time INTEGER NOT NULL, header BLOB NOT NULL, data BLOB NOT NULL, checksum INTEGER NOT NULL)
        """

    let path: String
    let durability: BenchmarkDurability

    func run(_ control: Control) throws {
        var opened: OpaquePointer?
        defer { sqlite3_close(opened) }
        guard sqlite3_open(path, &opened) == SQLITE_OK, let database = opened else {
            throw BenchmarkError("SQLite cannot open \(path)")
        }
        try execute(Self.schema, database)
        try execute("PRAGMA synchronous = \(durability.synchronous)", database)
        var prepared: OpaquePointer?
        defer { sqlite3_finalize(prepared) }
        try check(
            sqlite3_prepare_v2(database, "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)", -1, &prepared, nil),
            database)
        guard let insert = prepared else { return }
        let frames = try MessageFrames()
        var head: Int64 = 0
        try control.send()
        while let order = try control.waitForOrder() {
            var report = Report(begin: MonotonicTime.now, count: order.count)
            try append(order.count, behind: &head, frames: frames, insert: insert, database: database)
            report.end = MonotonicTime.now
            try control.send(report)
        }
    }

    private func append(
        _ count: Int, behind head: inout Int64, frames: MessageFrames, insert: OpaquePointer,
        database: OpaquePointer
    ) throws {
        try frames.header.withUnsafeBytes { header in
            try frames.data.withUnsafeBytes { data in
                // The header and the data are the same in every row. They are nevertheless bound for each row, as in a
                // real journal.
                for index in 0..<count {
                    if index.isMultiple(of: BusPublisher.batchSize) { try execute("BEGIN IMMEDIATE", database) }
                    head += 1
                    sqlite3_bind_int64(insert, 1, head)
                    sqlite3_bind_int64(insert, 2, 1)
                    sqlite3_bind_int64(insert, 3, head - 1)
                    sqlite3_bind_int64(insert, 4, 1_700_000_000_000 + head)
                    sqlite3_bind_blob(insert, 5, header.baseAddress, Int32(header.count), nil)
                    sqlite3_bind_blob(insert, 6, data.baseAddress, Int32(data.count), nil)
                    sqlite3_bind_int64(insert, 7, head &* 0x1000_0000_01b3)
                    guard sqlite3_step(insert) == SQLITE_DONE else { throw error(database) }
                    sqlite3_reset(insert)
                    if (index + 1).isMultiple(of: BusPublisher.batchSize) || index == count - 1 {
                        try execute("COMMIT", database)
                    }
                }
            }
        }
    }

    private func execute(_ sql: String, _ database: OpaquePointer) throws {
        try check(sqlite3_exec(database, sql, nil, nil, nil), database)
    }

    private func check(_ status: Int32, _ database: OpaquePointer) throws {
        guard status == SQLITE_OK else { throw error(database) }
    }

    private func error(_ database: OpaquePointer) -> BenchmarkError {
        BenchmarkError("SQLite failed: \(String(cString: sqlite3_errmsg(database)))")
    }
}
