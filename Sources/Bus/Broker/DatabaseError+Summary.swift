internal import GRDB

extension DatabaseError {
    /// Whether the file is not, or no longer, a database.
    var isDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }

    /// What is wrong, and what to do if there is something.
    var summary: String {
        let text = message ?? "SQLite error \(extendedResultCode.rawValue)"
        return switch resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR: "\(text): make room on its disk; it goes on by itself then"
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_CANTOPEN: "\(text): check who owns the file and its folder"
        default: text
        }
    }
}
