/// A message about the timers of a durable consumer in the journal at the end of a run.
package struct TimerEntry: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// A command to the consumer to set a timer or to take one back.
        case change
        /// A document that records a timer, in place of an earlier one of the same name.
        /// - Parameter due: In milliseconds since 1970.
        case set(name: String, due: Int)
        /// The withdrawal of the document with this name.
        case removal(name: String)
        /// The command of the timer whose document is the cause.
        case elapsed
    }

    package let id: String
    /// The id of the message that caused this one. Nil if there is none.
    package let cause: String?
    package let offset: UInt64
    /// The time at which the message was made, in milliseconds since 1970.
    package let time: Int
    package let content: Content

    package init(id: String, cause: String?, offset: UInt64, time: Int, content: Content) {
        self.id = id
        self.cause = cause
        self.offset = offset
        self.time = time
        self.content = content
    }
}

/// Follows the timers through the journal. A timer must be published once, not before its time, and not after another
/// one has replaced it or after it was taken back. Each command of a publisher must have one result.
package struct TimerReplay: Sendable {
    private struct Timer: Sendable {
        let name: String
        let due: Int
        /// The offset of its command. Nil before it is published.
        var offset: UInt64?
    }

    /// All timers, by the ids of their documents.
    private var timers: [String: Timer] = [:]
    /// The ids of the documents that are neither replaced nor withdrawn, by their names.
    private var open: [String: String] = [:]
    /// The commands of publishers, and true if the command has its result.
    private var changes: [String: Bool] = [:]
    private var found: [Finding] = []

    package init() {}

    /// The number of timers that were published.
    package var count: Int { timers.values.count { $0.offset != nil } }

    /// True if each command has its result, and no timer is open.
    package var isSettled: Bool { open.isEmpty && changes.values.allSatisfy(\.self) }

    /// The broken promises. A timer that is still open counts as missed.
    var findings: [Finding] {
        found + changes.filter { !$1 }.keys.sorted().map(Finding.timerUnchanged)
            + open.values.sorted().map(Finding.timerMissed)
    }

    /// Handles the next message of the journal.
    package mutating func handle(_ entry: TimerEntry) {
        switch entry.content {
        case .change: changes[entry.id] = false
        case .set(let name, let due):
            result(entry)
            timers[entry.id] = Timer(name: name, due: due)
            open[name] = entry.id
        case .removal(let name):
            result(entry)
            let isTakenBack = entry.cause.map { changes[$0] != nil } ?? false
            if let id = open.removeValue(forKey: name), !isTakenBack, timers[id]?.offset == nil {
                found.append(.timerMissed(id))
            }
        case .elapsed: elapsed(entry)
        }
    }

    /// Records the result of a command. The withdrawal of a timer that is published has another cause.
    private mutating func result(_ entry: TimerEntry) {
        guard let cause = entry.cause, let hasResult = changes[cause] else { return }
        if hasResult { found.append(.resultRepeated(id: entry.id, offset: entry.offset)) }
        changes[cause] = true
    }

    private mutating func elapsed(_ entry: TimerEntry) {
        let id = entry.cause ?? ""
        guard let timer = timers[id] else {
            found.append(.timerNotOpen(id, offset: entry.offset))
            return
        }
        if let offset = timer.offset {
            found.append(.timerDoubled(id, offsets: [offset, entry.offset]))
        } else if open[timer.name] != id {
            found.append(.timerNotOpen(id, offset: entry.offset))
        }
        if entry.time < timer.due { found.append(.timerEarly(id, milliseconds: timer.due - entry.time)) }
        timers[id]?.offset = entry.offset
    }
}
