internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// Copies the write-ahead log of a journal into its file: a *checkpoint*, in the words of SQLite. A checkpoint waits for
/// the disk, so it runs on a connection and a thread of its own, while the broker continues to append to the log.
final class Checkpointer: Sendable {
    /// The number of pages in the log at which a checkpoint begins: the default of SQLite.
    private static let beginning = 1000
    /// The number of pages (64 MiB) at which the broker waits for a checkpoint. SQLite uses the log again from its
    /// beginning only when all of it is copied, and while the broker appends, there is always more.
    private static let limit = 16_384

    private struct State {
        var isRunning = false
        var pageCount = 0
        /// Nil until the log has grown for the first time.
        var limit: Int?
    }

    private let database: DatabaseQueue
    private let state = Mutex(State())

    /// - Parameter path: The file of the journal.
    init(path: String) throws {
        var configuration = Configuration()
        configuration.label = "checkpoints"
        // check-lines: the journal claimed the file.
        database = try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Begins checkpoints as the log of a connection grows, in place of SQLite's own. The connection must not be used
    /// longer than this checkpointer.
    func watch(_ connection: Database) {
        let checkpointer = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            connection.sqliteConnection,
            { checkpointer, _, _, pageCount in
                guard let checkpointer else { return SQLITE_OK }
                Unmanaged<Checkpointer>.fromOpaque(checkpointer).takeUnretainedValue().logHasGrown(to: Int(pageCount))
                return SQLITE_OK
            }, checkpointer)
    }

    /// Waits for a running checkpoint. There are no others after it.
    func close() {
        try? database.close()
    }

    private enum Step {
        case none
        case begin
        case wait
    }

    private func logHasGrown(to pageCount: Int) {
        let step: Step = state.withLock { state in
            // Nobody waits for the log that a process before this one has left.
            let limit = state.limit ?? min(pageCount, Self.limit) + Self.limit
            let hasBegunAnew = pageCount < state.pageCount
            state.limit = hasBegunAnew ? Self.limit : limit
            state.pageCount = pageCount
            if pageCount >= limit, !hasBegunAnew {
                // Another program that reads the file can prevent that the log begins anew. The next wait is as far away.
                state.limit = pageCount + Self.limit
                return .wait
            }
            guard pageCount >= Self.beginning, !state.isRunning else { return .none }
            state.isRunning = true
            return .begin
        }
        switch step {
        case .none: break
        case .begin:
            database.asyncWriteWithoutTransaction { database in
                Self.copyLog(database)
                self.state.withLock { $0.isRunning = false }
            }
        case .wait: database.inDatabase(Self.copyLog)
        }
    }

    /// Copies what no reader needs. If this fails, the messages remain in the log, and the next checkpoint tries again.
    private static func copyLog(_ database: Database) {
        _ = try? database.checkpoint(.passive)
    }
}
