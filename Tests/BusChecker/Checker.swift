/// Compares what was promised with what is there, in the manner of Jepsen: unique values in, all of it read at the end.
///
/// A value that was not acknowledged may be there or not: its publisher cannot know.
package struct Checker {
    let history: History
    /// The values of the journal, in its order.
    let entries: [(value: Value, entry: JournalEntry)]
    let journalled: Set<Value>
    /// The last value of each document in the journal.
    private let lastOfDocument: [DocumentID: (sequence: Int, offset: UInt64)]

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
        var last: [DocumentID: (sequence: Int, offset: UInt64)] = [:]
        for (value, entry) in entries {
            guard let document = history.documents[value] else { continue }
            last[DocumentID(publisher: value.publisher, document: document)] = (value.sequence, entry.offset)
        }
        lastOfDocument = last
    }

    /// Whether the bus may have forgotten a value: it was a document, is not in the journal any more, and a later one of the
    /// same document is. What is still in the journal was there all the time: nobody may have missed it.
    /// - Parameter offset: where the value stood, if that is known: the later one is behind it.
    func isForgotten(_ value: Value, at offset: UInt64 = 0) -> Bool {
        guard !journalled.contains(value), let document = history.documents[value],
            let last = lastOfDocument[DocumentID(publisher: value.publisher, document: document)]
        else { return false }
        return last.sequence > value.sequence && last.offset > offset
    }
}
