/// The number of bytes that each name has in a table of the journal. Changes count at once, and are forgotten if their
/// transaction fails.
struct StoredSizes {
    /// The number of bytes that an entry has at least, with its row and its indices.
    static let minimum = 1024

    private var committed: [String: Int]
    private var changes: [String: Int] = [:]

    init(_ sizes: [String: Int] = [:]) {
        committed = sizes
    }

    subscript(name: String) -> Int { committed[name, default: 0] + changes[name, default: 0] }

    /// - Parameter size: The number of bytes of an entry; negative for one that was removed.
    mutating func add(_ size: Int, to name: String) {
        changes[name, default: 0] += size
    }

    mutating func commit() {
        guard !changes.isEmpty else { return }
        for (name, change) in changes {
            let size = committed[name, default: 0] + change
            committed[name] = size > 0 ? size : nil
        }
        changes = [:]
    }

    mutating func rollBack() {
        guard !changes.isEmpty else { return }
        changes = [:]
    }
}
