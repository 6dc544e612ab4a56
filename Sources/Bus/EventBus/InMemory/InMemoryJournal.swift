internal import Foundation

/// The journal of an ``InMemoryHub``: the newest messages. Their offsets follow each other without a gap.
struct InMemoryJournal {
    private struct Entry {
        let message: Envelope
        /// The time at which the message was recorded.
        let time: Date
    }

    let epoch: UInt64
    /// The offset of the message before the oldest one that the journal holds.
    private(set) var base: UInt64
    /// The message at offset n is at index n - base - 1.
    private var entries: [Entry]
    /// The offset of the newest message of each type, even if the message was removed.
    private(set) var newest: [MessageType: UInt64]

    init() {
        self.init(epoch: .random(in: 1...UInt64.max), base: 0, messages: [], newest: [:])
    }

    /// Restores a journal. A message counts as recorded at the time at which it was created.
    /// - Parameter messages: The messages after `base`, in the order of their offsets.
    init(epoch: UInt64, base: UInt64, messages: [Envelope], newest: [MessageType: UInt64]) {
        self.epoch = epoch
        self.base = base
        entries = messages.map { Entry(message: $0, time: $0.attributes.time) }
        self.newest = newest
    }

    /// The position of the last message.
    var end: Position { Position(epoch: epoch, offset: base + UInt64(entries.count)) }

    /// The number of messages that the journal holds.
    var count: Int { entries.count }

    /// The message at an offset. Nil if there is none, or if it was removed.
    subscript(offset: UInt64) -> Envelope? {
        offset > base && offset <= end.offset ? entries[Int(offset - base) - 1].message : nil
    }

    /// The messages after an offset, in order.
    func messages(after offset: UInt64) -> [Envelope] {
        entries.dropFirst(Int(clamping: offset - min(base, offset))).map(\.message)
    }

    /// The offset before the first message that was recorded at `time` or later.
    func offset(before time: Date) -> UInt64 {
        base + UInt64(entries.firstIndex { $0.time >= time } ?? entries.count)
    }

    /// Records a message.
    /// - Returns: The message with its position.
    mutating func append(_ message: Envelope) -> Envelope {
        var message = message
        message.position = Position(epoch: epoch, offset: end.offset + 1)
        entries.append(Entry(message: message, time: Date()))
        newest[message.type] = end.offset
        return message
    }

    /// Removes all messages up to an offset.
    mutating func remove(through offset: UInt64) {
        let count = min(Int(clamping: offset - min(base, offset)), entries.count)
        entries.removeFirst(count)
        base += UInt64(count)
    }
}
