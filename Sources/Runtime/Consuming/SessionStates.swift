internal import DequeModule
package import EventBus

/// The states of the sessions that were used last, with the earlier states that are needed to undo changes.
///
/// A session is *known* if its state was restored or set since then. The state of a known session is nil if the session
/// has not begun or has ended. If there are more known sessions than the limit, those that were not used for the
/// longest time are forgotten, except sessions whose changes may still be undone.
package struct SessionStates<State: Sendable>: Sendable {
    private struct Entry: Sendable {
        var state: State?
        var lastUse: UInt64
        /// The number of changes that can still be undone.
        var changeCount = 0
    }

    private struct Use: Sendable {
        let session: String
        let number: UInt64
    }

    private struct Change: Sendable {
        let offset: UInt64
        let session: String
        let before: State?
        /// True if the session is forgotten when the change is undone.
        let isFirst: Bool
    }

    private let limit: Int
    private var entries: [String: Entry] = [:]
    /// The uses in their order. Only the last use of a session counts.
    private var uses: Deque<Use> = []
    private var useCount: UInt64 = 0
    private var changes: [Partition: [Change]] = [:]

    /// - Parameter limit: the number of sessions above which sessions are forgotten.
    package init(limit: Int = .max) {
        self.limit = limit
    }

    /// The number of known sessions.
    package var count: Int { entries.count }

    package func isKnown(_ session: String) -> Bool { entries[session] != nil }

    /// The state of a session. Nil if the session is not known, has not begun or has ended.
    package subscript(session: String) -> State? { entries[session]?.state }

    /// Sets the state that was read for a session. ``revert(_:from:)`` does not undo it.
    package mutating func restore(_ state: State?, of session: String) {
        entries[session] = Entry(state: state, lastUse: 0)
        use(session)
        forgetUnused()
    }

    /// Sets a state because of a message. The change can be undone until ``keep(_:through:)`` makes it permanent.
    /// - Parameter isFirst: true if the present state was not published. Then the session is forgotten when the change
    ///   is undone, so that its state is read again.
    package mutating func set(_ state: State?, because message: Envelope, isFirst: Bool = false) {
        let session = message.subject
        let change = Change(
            offset: message.position?.offset ?? 0, session: session, before: self[session],
            isFirst: isFirst || !isKnown(session))
        changes[message.partition, default: []].append(change)
        var entry = entries[session] ?? Entry(state: nil, lastUse: 0)
        entry.state = state
        entry.changeCount += 1
        entries[session] = entry
        use(session)
        forgetUnused()
    }

    package mutating func keep(_ partition: Partition, through offset: UInt64) {
        guard let recorded = changes[partition]?.prefix(while: { $0.offset <= offset }), !recorded.isEmpty else {
            return
        }
        for change in recorded { entries[change.session]?.changeCount -= 1 }
        changes[partition]?.removeFirst(recorded.count)
        if changes[partition]?.isEmpty == true { changes[partition] = nil }
    }

    package mutating func revert(_ partition: Partition, from offset: UInt64) {
        while let change = changes[partition]?.last, change.offset >= offset {
            changes[partition]?.removeLast()
            entries[change.session]?.changeCount -= 1
            if change.isFirst {
                entries[change.session] = nil
            } else {
                entries[change.session]?.state = change.before
            }
        }
    }

    /// Forgets all sessions of these partitions.
    package mutating func forget(_ partitions: Set<Partition>) {
        entries = entries.filter { !partitions.contains(Partition(subject: $0.key)) }
        for partition in partitions { changes[partition] = nil }
    }

    /// Records that a session is used now.
    package mutating func use(_ session: String) {
        guard limit < .max, isKnown(session) else { return }
        useCount += 1
        entries[session]?.lastUse = useCount
        uses.append(Use(session: session, number: useCount))
        // Most of the uses are outdated. Without them, the list is at most half as long.
        guard uses.count > 2 * entries.count + 64 else { return }
        uses = Deque(uses.filter { entries[$0.session]?.lastUse == $0.number })
    }

    private mutating func forgetUnused() {
        var kept: [Use] = []
        // The session that is used now is the last one, and stays.
        while entries.count > limit, let use = uses.first, use.number < useCount {
            uses.removeFirst()
            guard let entry = entries[use.session], entry.lastUse == use.number else { continue }
            if entry.changeCount > 0 {
                kept.append(use)
            } else {
                entries[use.session] = nil
            }
        }
        uses.prepend(contentsOf: kept)
    }
}
