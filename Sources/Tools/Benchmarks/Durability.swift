/// What a journalled message survives: the broker's setting, and the same for SQLite alone.
package enum Durability: String, CaseIterable, Sendable {
    /// A kill -9 of anything.
    case process
    /// Also a loss of power: every commit waits for the disk.
    case power

    /// The value of SQLite's `PRAGMA synchronous`.
    var synchronous: String { self == .power ? "FULL" : "NORMAL" }
}
