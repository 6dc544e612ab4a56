internal import EventBus
internal import Monitor
internal import Support
internal import WebPage

/// A view of kind `messages`: the rows that match a selection, and the totals of their types.
struct MessagesView: ViewState {
    /// The maximum number of types that are counted. Messages of further types are counted together.
    private static let typeLimit = 1000
    private static let otherTypes = "other"
    /// The maximum number of notices that wait.
    private static let noticeLimit = 16

    let selection: MessageSelection
    private var pending = PendingRows()
    private var counts: [String: Int] = [:]
    private var changedCounts: Set<String> = []
    private var notices: [String] = []
    /// True until the rows before the live ones are known. Meanwhile nothing is sent.
    private var isLoading: Bool
    /// True until an update tells the page that the rows of the journal have been read. It is sent even if there is
    /// none.
    private var isBeginning = false
    /// The end of the rows that are read from the journal. Live rows up to it are ignored.
    private var historyEnd: Position?

    /// - Parameter loadsHistory: True if the view begins with rows of the journal, see ``setHistory(_:end:)``.
    init(_ selection: MessageSelection, loadsHistory: Bool) {
        self.selection = selection
        isLoading = loadsHistory
    }

    var hasNews: Bool { !isLoading && (isBeginning || !pending.isEmpty || !changedCounts.isEmpty || !notices.isEmpty) }

    /// Handles a live message.
    /// - Parameter row: Makes the row. It is called only if the message matches.
    mutating func handle(_ message: Envelope, _ row: () -> MessageRow) {
        guard selection.matches(message) else { return }
        let row = row()
        if let end = historyEnd, row.isRecorded(through: end) { return }
        pending.append(row)
        let name = message.type.description
        let type = counts[name] == nil && counts.count >= Self.typeLimit ? Self.otherTypes : name
        counts[type, default: 0] += 1
        changedCounts.insert(type)
    }

    /// Sets the rows before the live ones.
    /// - Parameter end: The last position that was read.
    mutating func setHistory(_ rows: [MessageRow], end: Position) {
        pending.drop(through: end)
        pending.prepend(rows)
        historyEnd = end
        isLoading = false
        isBeginning = true
    }

    mutating func addNotice(_ text: String) {
        if notices.count < Self.noticeLimit { notices.append(text) }
    }

    /// Removes and returns the changes as a JSON object. Nil if there are none.
    /// - Parameter size: The number of bytes that the object should have at most.
    mutating func dequeueUpdate(size: Int) -> [UInt8]? {
        guard hasNews else { return nil }
        isBeginning = false
        var update = ObjectText()
        let (rows, skipped) = pending.dequeue(size: size)
        if !rows.isEmpty { update.add("rows", .array(rows.map(\.json))) }
        if let skipped, skipped.count != 0 {
            update.add(
                "skipped",
                [
                    "count": .integer(skipped.count), "after": .string(skipped.after.pageText),
                    "before": .string(skipped.before.pageText),
                ])
        }
        for loss in pending.drainLosses() { addNotice(loss) }
        if !changedCounts.isEmpty {
            let changed = changedCounts.map { ($0, JSONValue.integer(counts[$0] ?? 0)) }
            update.add("counts", .object(Dictionary(changed) { $1 }))
            changedCounts = []
        }
        if !notices.isEmpty {
            update.add("lost", .array(notices.map(JSONValue.string)))
            notices = []
        }
        return update.closed
    }
}
