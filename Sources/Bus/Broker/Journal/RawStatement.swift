internal import Foundation
internal import GRDB
internal import GRDBSQLite

/// A prepared statement that uses SQLite's C interface, for the statements that run most often. It must only be used
/// inside the database's queue.
final class RawStatement {
    private let pointer: OpaquePointer

    init(_ sql: String, _ database: Database) throws {
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(
            database.sqliteConnection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else {
            throw Self.error(code, database.sqliteConnection)
        }
        self.pointer = pointer
    }

    deinit {
        sqlite3_finalize(pointer)
    }

    func bind(_ value: Int64, at index: Int32) {
        sqlite3_bind_int64(pointer, index, value)
    }

    /// Binds a blob. An empty blob is not bound as NULL.
    /// - Parameter bytes: Must remain valid until the statement is reset.
    func bind(blob bytes: UnsafeRawBufferPointer, at index: Int32) {
        if bytes.isEmpty {
            sqlite3_bind_zeroblob(pointer, index, 0)
        } else {
            sqlite3_bind_blob(pointer, index, bytes.baseAddress, Int32(clamping: bytes.count), nil)
        }
    }

    /// Binds a string in UTF-8. `bytes` must remain valid until the statement is reset.
    func bind(text bytes: UnsafeRawBufferPointer, at index: Int32) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            sqlite3_bind_text(pointer, index, "", 0, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            return
        }
        sqlite3_bind_text(
            pointer, index, start.assumingMemoryBound(to: CChar.self), Int32(clamping: bytes.count), nil)
    }

    func bindNull(at index: Int32) {
        sqlite3_bind_null(pointer, index)
    }

    /// - Returns: False if there are no more rows.
    func step() throws -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw Self.error(code, sqlite3_db_handle(pointer))
        }
    }

    /// Runs a statement that returns no rows, and resets it.
    func run() throws {
        defer { reset() }
        _ = try step()
    }

    /// Resets the statement. After that the bound bytes are no longer used.
    func reset() {
        sqlite3_reset(pointer)
    }

    func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(pointer, column)
    }

    /// The bytes of a column. They are valid until the next step or reset.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(pointer, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
    }

    private static func error(_ code: Int32, _ connection: OpaquePointer?) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
            message: String(cString: sqlite3_errmsg(connection)))
    }
}
