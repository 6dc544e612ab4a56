/// What an acknowledged message survives.
package enum Durability: String, Sendable, CaseIterable {
    /// A kill -9 of anything (SQLite's write-ahead log, `synchronous=NORMAL`).
    case process
    /// Also a loss of power: every commit waits for the disk (`synchronous=FULL`).
    case power
}
