internal import DequeModule
internal import Support
internal import WebPage

/// A view of kind `happenings`: the rows that have not been sent yet, in order, and the number of hidden messages.
///
/// A row that further messages have joined is sent again, with the same id.
struct HappeningsView: ViewState {
    /// The maximum number of notices that wait.
    private static let noticeLimit = 16

    /// At most ``HappeningLog/limit`` rows. If there are more, the oldest are skipped and counted.
    private var pending: Deque<HappeningRow>
    private var skipped = 0
    /// The number of rows in ``pending`` that the log had at the beginning. They are not counted if they are skipped: a
    /// page that opens later has not missed them.
    private var kept: Int
    private var hidden: Int
    /// True if the page does not have the present number. The first update has it, even if it has no row.
    private var hidesMore = true
    private var notices: [String] = []

    /// Begins with the rows of a log.
    init(_ log: HappeningLog) {
        pending = log.rows
        kept = log.rows.count
        hidden = log.hidden
    }

    var hasNews: Bool { hidesMore || !pending.isEmpty || !notices.isEmpty }

    /// Shows what a message has changed.
    /// - Parameter row: The row that the message has begun or joined. Nil if no row tells the message.
    mutating func show(_ row: HappeningRow?, hidden: Int) {
        hidesMore = hidesMore || hidden != self.hidden
        self.hidden = hidden
        guard let row else { return }
        if pending.last?.id == row.id { pending.removeLast() }
        pending.append(row)
        guard pending.count > HappeningLog.limit else { return }
        pending.removeFirst()
        if kept > 0 { kept -= 1 } else { skipped += 1 }
    }

    mutating func addNotice(_ text: String) {
        if notices.count < Self.noticeLimit { notices.append(text) }
    }

    /// Removes and returns the changes as a JSON object. Nil if there are none.
    /// - Parameter size: About the number of bytes that the object should have at most. It has at least one row.
    mutating func dequeueUpdate(size: Int) -> [UInt8]? {
        guard hasNews else { return nil }
        var update = ObjectText()
        var rows: [[UInt8]] = []
        var left = size
        while left > 0, let row = pending.popFirst() {
            rows.append(Array(row.json.description.utf8))
            kept = max(0, kept - 1)
            left -= rows.last?.count ?? 0
        }
        if !rows.isEmpty { update.add("rows", ObjectText.array(rows)) }
        if hidesMore { update.add("hidden", .integer(hidden)) }
        if skipped > 0 { update.add("skipped", .integer(skipped)) }
        if !notices.isEmpty { update.add("lost", .array(notices.map(JSONValue.string))) }
        (hidesMore, skipped, notices) = (false, 0, [])
        return update.closed
    }
}
