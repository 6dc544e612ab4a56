/// Compares what was promised with what is there, in the manner of Jepsen: unique values in, all of it read at the end.
///
/// A value that was not acknowledged may be there or not: its publisher cannot know.
package struct Checker {
    let history: History
    /// The values of the journal, in its order.
    let entries: [(value: Value, entry: JournalEntry)]
    let journalled: Set<Value>
    /// The last sequence of each document in the journal.
    private let lastOfDocument: [DocumentID: Int]

    private struct DocumentID: Hashable {
        let publisher: String
        let document: String
    }

    /// - Returns: nothing, if the bus has kept its promises.
    package static func findings(in history: History) -> [Finding] {
        let checker = Checker(history)
        return checker.journalFindings + checker.resultFindings + history.readers.flatMap(checker.findings(of:))
    }

    private init(_ history: History) {
        self.history = history
        entries = history.entries
        journalled = Set(entries.map(\.value))
        var last: [DocumentID: Int] = [:]
        for value in journalled {
            guard let document = history.documents[value] else { continue }
            last[DocumentID(publisher: value.publisher, document: document), default: 0].replace(ifLess: value.sequence)
        }
        lastOfDocument = last
    }

    /// Whether the bus may have forgotten a value: it was a document, and there is a later one.
    func isSuperseded(_ value: Value) -> Bool {
        guard let document = history.documents[value] else { return false }
        let last = lastOfDocument[DocumentID(publisher: value.publisher, document: document)]
        return last.map { $0 > value.sequence } ?? false
    }
}

extension Int {
    fileprivate mutating func replace(ifLess other: Int) {
        self = Swift.max(self, other)
    }
}
