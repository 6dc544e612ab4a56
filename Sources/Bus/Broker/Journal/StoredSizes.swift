internal import GRDB

/// The number of bytes that each name has in a table of the journal. Changes count at once, and are forgotten if their
/// transaction fails.
struct StoredSizes {
    /// The number of bytes that an entry has at least, with its row and its indices.
    static let minimum = 1024

    private var committed = UserCounts()
    private var changes: [String: Int] = [:]

    init() {}

    /// - Parameter sql: Selects each name once, and its number of bytes as `size`.
    init(_ database: Database, sql: String) throws {
        let rows = try Row.fetchAll(database, sql: sql)
        committed = UserCounts(Dictionary(try rows.map { (try $0.value("name"), try $0.value("size")) }) { $1 })
    }

    subscript(name: String) -> Int { committed[name] + changes[name, default: 0] }

    /// - Parameter size: The number of bytes of an entry; negative for one that was removed.
    mutating func add(_ size: Int, to name: String) {
        changes[name, default: 0] += size
    }

    mutating func commit() {
        guard !changes.isEmpty else { return }
        for (name, change) in changes { committed.add(change, to: name) }
        changes = [:]
    }

    mutating func rollBack() {
        guard !changes.isEmpty else { return }
        changes = [:]
    }
}
