internal import GRDB
internal import Support

extension Row {
    /// The value of a column. The subscripts of `Row` end the process if the value has another type: SQLite stores any
    /// value in any column, and another program or a defective disk may have changed the file.
    /// - Throws: `DatabaseError` `SQLITE_CORRUPT`.
    func value<Value: DatabaseValueConvertible>(_ column: String, as _: Value.Type = Value.self) throws -> Value {
        let stored: DatabaseValue = self[column]
        guard let value = Value.fromDatabaseValue(stored) else {
            throw damage(of: column, stored, expected: "another type")
        }
        return value
    }

    /// An offset, an owner generation, a sequence, a time in milliseconds since 1970, a count or a size: a number with
    /// which arithmetic cannot overflow.
    /// - Throws: `DatabaseError` `SQLITE_CORRUPT` if it is negative or greater than ``SafeIntegers/greatest``.
    func number<Number: FixedWidthInteger>(_ column: String, as _: Number.Type = Number.self) throws -> Number {
        let number: Int64 = try value(column)
        guard SafeIntegers.counts.contains(number), let result = Number(exactly: number) else {
            throw damage(of: column, self[column], expected: "a number from 0 to \(SafeIntegers.greatest)")
        }
        return result
    }

    private func damage(of column: String, _ stored: DatabaseValue, expected: String) -> DatabaseError {
        let found =
            switch stored.storage {
            case .null: "nothing"
            case .int64(let number): "\(number)"
            case .double: "a fraction"
            case .string: "a text"
            case .blob: "bytes"
            }
        return DatabaseError(
            resultCode: .SQLITE_CORRUPT, message: "a row has \(found) as its '\(column)' instead of \(expected)")
    }
}

extension DatabaseError {
    /// The error of SQLite, or of reading its values. Nil for any other error.
    init?(_ error: any Error) {
        switch error {
        case let error as DatabaseError: self = error
        case is RowDecodingError: self.init(resultCode: .SQLITE_CORRUPT, message: "a value has another type")
        default: return nil
        }
    }
}
