internal import Foundation

/// The journal of an ``InMemoryHub``: the newest messages, in the order of their offsets.
struct InMemoryJournal {
    private struct Entry {
        let offset: UInt64
        let message: Envelope
        /// The time at which the message was recorded.
        let time: Date
    }

    let epoch: UInt64
    /// The offset up to which messages were removed.
    private(set) var base: UInt64
    private var entries: [Entry]
    /// The offset of the newest message of each type, even if the message was removed.
    private(set) var newest: [MessageType: UInt64]
    /// The maximum number of offsets that are left out before each batch; how many is random.
    private let maximumGap: UInt64

    init(maximumGap: UInt64 = 0) {
        self.init(epoch: .random(in: 1...UInt64.max), base: 0, messages: [], newest: [:], maximumGap: maximumGap)
    }

    /// Restores a journal. A message counts as recorded at the time at which it was created.
    /// - Parameter messages: The messages after `base`, in the order of their positions.
    init(
        epoch: UInt64, base: UInt64, messages: [Envelope], newest: [MessageType: UInt64], maximumGap: UInt64 = 0
    ) {
        self.epoch = epoch
        self.base = base
        entries = messages.compactMap { message in
            message.position.map { Entry(offset: $0.offset, message: message, time: message.attributes.time) }
        }
        self.newest = newest
        self.maximumGap = maximumGap
    }

    /// The position of the last message.
    var end: Position { Position(epoch: epoch, offset: entries.last?.offset ?? base) }

    /// The number of messages that the journal holds.
    var count: Int { entries.count }

    // MARK: Reading

    /// The message at an offset. Nil if there is none, or if it was removed.
    subscript(offset: UInt64) -> Envelope? {
        let count = count(through: offset)
        return count > 0 && entries[count - 1].offset == offset ? entries[count - 1].message : nil
    }

    /// The first message after an offset. Nil if there is none.
    func first(after offset: UInt64) -> Envelope? {
        let index = count(through: offset)
        return index < entries.count ? entries[index].message : nil
    }

    /// The messages after an offset, in order.
    func messages(after offset: UInt64) -> [Envelope] {
        entries[count(through: offset)...].map(\.message)
    }

    /// The offset before the first message that was recorded at `time` or later.
    func offset(before time: Date) -> UInt64 {
        offset(ofLast: entries.firstIndex { $0.time >= time } ?? entries.count)
    }

    /// The position that is `distance` messages after a position, or before it if `distance` is negative; at most the
    /// end of the journal. Offset 0 if the journal has fewer messages before the position.
    func position(_ position: Position, offsetBy distance: Int) -> Position {
        let (sum, overflows) = count(through: position.offset).addingReportingOverflow(distance)
        guard overflows || sum > 0 else { return Position(epoch: epoch, offset: 0) }
        return Position(epoch: epoch, offset: offset(ofLast: overflows ? entries.count : min(sum, entries.count)))
    }

    /// The offset before the newest `count` messages.
    func offset(beforeNewest count: Int) -> UInt64 { offset(ofLast: max(0, entries.count - count)) }

    /// The number of messages after a position whose type a filter selects, at most ``Limits/lag``.
    func lag(after position: Position, matching filters: [MessageFilter]) -> UInt64 {
        let start = position.epoch == epoch ? count(through: position.offset) : 0
        var lag: UInt64 = 0
        for entry in entries[start...] where filters.contains(where: { $0.selectsType(of: entry.message) }) {
            lag += 1
            if lag == Limits.lag { break }
        }
        return lag
    }

    /// The number of messages up to an offset, which is also the index of the first message after it.
    private func count(through offset: UInt64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = low + (high - low) / 2
            if entries[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The offset of the last one of the first `count` messages.
    private func offset(ofLast count: Int) -> UInt64 { count > 0 ? entries[count - 1].offset : base }

    // MARK: Writing

    /// Records the messages of a batch, whose offsets follow each other.
    /// - Returns: The messages with their positions.
    mutating func append(_ batch: [Envelope]) -> [Envelope] {
        var offset = end.offset + .random(in: 0...maximumGap)
        return batch.map { message in
            offset += 1
            var message = message
            message.position = Position(epoch: epoch, offset: offset)
            entries.append(Entry(offset: offset, message: message, time: Date()))
            newest[message.type] = offset
            return message
        }
    }

    /// Removes all messages up to an offset.
    mutating func remove(through offset: UInt64) {
        let count = count(through: offset)
        base = self.offset(ofLast: count)
        entries.removeFirst(count)
    }
}

extension MessageFilter {
    /// True if the filter selects the type of a message. The filter's subject is ignored.
    fileprivate func selectsType(of message: Envelope) -> Bool {
        matches(message.type, subject: subject ?? message.subject)
    }
}
