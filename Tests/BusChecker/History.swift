/// All that happened in one run, as those who took part wrote it down.
package struct History: Sendable {
    /// Every value that was handed to the bus.
    package var invoked: Set<Value> = []
    /// Of the values that are documents: which document. A later value of the same publisher supersedes it.
    package var documents: [Value: String] = [:]
    /// The values that the bus has promised to keep.
    package var acknowledged: Set<Value> = []
    /// What can be read at the end.
    package var journal: [JournalEntry] = []
    /// The durable consumers, each of which has had time to handle everything.
    package var groups: Set<String> = []
    package var readers: [Reader] = []

    package init() {}

    /// Adds what one process wrote.
    package mutating func add(_ lines: [HistoryLine]) {
        for line in lines {
            switch line {
            case .invoked(let value, let document):
                invoked.insert(value)
                documents[value] = document
            case .acknowledged(let value): acknowledged.insert(value)
            case .live, .delivered, .handled: break
            }
        }
    }

    /// The values of the journal with their entries, in the order of the journal.
    var entries: [(value: Value, entry: JournalEntry)] {
        journal.sorted { $0.offset < $1.offset }.compactMap { entry in entry.value.map { ($0, entry) } }
    }
}
