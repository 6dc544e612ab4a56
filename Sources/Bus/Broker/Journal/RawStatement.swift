internal import Foundation
internal import GRDB
internal import GRDBSQLite

/// The parameters of a prepared statement. A case has the name of the parameter in the SQL, without the colon. Its raw
/// value is the number that SQLite gives to the parameter: the first one has 1.
protocol StatementParameter: RawRepresentable where RawValue == Int32 {}

/// The parameters of a statement that has none.
enum NoParameter: StatementParameter {
    init?(rawValue: Int32) { nil }

    var rawValue: Int32 { switch self {} }
}

/// A prepared statement that uses SQLite's C interface, for the statements that run most often. It must only be used
/// inside the database's queue.
final class RawStatement<Parameter: StatementParameter> {
    private let pointer: OpaquePointer

    /// - Throws: `DatabaseError` if the SQL is wrong, or has parameters that `Parameter` does not have at the same
    ///   numbers.
    init(_ sql: String, _ database: Database) throws {
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(
            database.sqliteConnection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else {
            throw DatabaseError(lastOf: database.sqliteConnection)
        }
        self.pointer = pointer
        for number in 0..<sqlite3_bind_parameter_count(pointer) {
            let name = sqlite3_bind_parameter_name(pointer, number + 1).map { String(cString: $0) }
            let parameter = Parameter(rawValue: number + 1)
            guard let name, let parameter, name == ":\(parameter)" else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE, message: "parameter \(number + 1) has another name", sql: sql)
            }
        }
    }

    deinit {
        sqlite3_finalize(pointer)
    }

    func bind(_ value: Int64, to parameter: Parameter) {
        sqlite3_bind_int64(pointer, parameter.rawValue, value)
    }

    /// Binds a blob. An empty blob is not bound as NULL.
    /// - Parameter bytes: Must remain valid until the statement is reset.
    func bind(blob bytes: UnsafeRawBufferPointer, to parameter: Parameter) {
        if bytes.isEmpty {
            sqlite3_bind_zeroblob(pointer, parameter.rawValue, 0)
        } else {
            sqlite3_bind_blob(pointer, parameter.rawValue, bytes.baseAddress, Int32(clamping: bytes.count), nil)
        }
    }

    /// Binds a string in UTF-8. `bytes` must remain valid until the statement is reset.
    func bind(text bytes: UnsafeRawBufferPointer, to parameter: Parameter) {
        let index = parameter.rawValue
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            sqlite3_bind_text(pointer, index, "", 0, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            return
        }
        sqlite3_bind_text(
            pointer, index, start.assumingMemoryBound(to: CChar.self), Int32(clamping: bytes.count), nil)
    }

    func bindNull(to parameter: Parameter) {
        sqlite3_bind_null(pointer, parameter.rawValue)
    }

    /// - Returns: The next row; nil if there are no more.
    func step() throws -> RawRow? {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return RawRow(pointer: pointer)
        case SQLITE_DONE: return nil
        default: throw DatabaseError(lastOf: sqlite3_db_handle(pointer))
        }
    }

    /// Runs a statement that returns no rows, and resets it.
    func run() throws {
        defer { reset() }
        _ = try step()
    }

    /// Binds a string, unless it is nil, and runs the statement as ``run()`` does.
    func run(binding text: String?, to parameter: Parameter) throws {
        guard var text else { return try run() }
        try text.withUTF8 { bytes in
            bind(text: UnsafeRawBufferPointer(bytes), to: parameter)
            try run()
        }
    }

    /// Resets the statement. After that the bound bytes are no longer used.
    func reset() {
        sqlite3_reset(pointer)
    }
}

/// The current row of a statement. It is valid until the next step or reset.
struct RawRow {
    fileprivate let pointer: OpaquePointer

    /// The number in the first column.
    var first: Int64 { sqlite3_column_int64(pointer, 0) }

    /// The text in the first column; nil if it is NULL.
    var firstText: String? {
        sqlite3_column_text(pointer, 0).map { String(cString: $0) }
    }

    /// The number in the second column.
    var second: Int64 { sqlite3_column_int64(pointer, 1) }

    func integer(_ column: MessageTable.Column) -> Int64 {
        sqlite3_column_int64(pointer, column.rawValue)
    }

    func bytes(_ column: MessageTable.Column) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(pointer, column.rawValue)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column.rawValue)))
    }
}

extension DatabaseError {
    /// The last error of a connection.
    fileprivate init(lastOf connection: OpaquePointer?) {
        self.init(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
            message: String(cString: sqlite3_errmsg(connection)))
    }
}
