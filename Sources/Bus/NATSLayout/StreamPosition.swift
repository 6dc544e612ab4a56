internal import EventBus

/// The place of a message in the journal's stream: the sequence of the JetStream message that holds its batch, and a
/// slot of the batch.
///
/// The offset of a message is its sequence × 1,024 + its slot. A batch of `n` messages takes the last `n` slots, so
/// that the offset of its last message, and with it the end of the journal, follows from the sequence alone.
package struct StreamPosition: Hashable, Sendable, Comparable {
    /// The number of slots of a batch.
    package static let slotCount = UInt64(Limits.batchCount)
    /// The highest sequence whose offsets fit in 64 bits.
    package static let maximumSequence = UInt64.max / slotCount - 1

    package let sequence: UInt64
    /// Less than ``slotCount``.
    package let slot: UInt64

    package init(offset: UInt64) {
        (sequence, slot) = offset.quotientAndRemainder(dividingBy: Self.slotCount)
    }

    /// The place of a message in a batch. Nil if the batch cannot have this message, or if the sequence is not that of
    /// a JetStream message.
    package init?(sequence: UInt64, index: Int, count: Int) {
        guard (1...Self.maximumSequence).contains(sequence), (1...Int(Self.slotCount)).contains(count),
            (0..<count).contains(index)
        else { return nil }
        self.sequence = sequence
        slot = Self.slotCount - UInt64(count - index)
    }

    package var offset: UInt64 { sequence * Self.slotCount + slot }

    /// The index of the message in its batch of `count` messages. Negative if the offset is that of no message.
    package func index(count: Int) -> Int { Int(slot) - Int(Self.slotCount) + count }

    package static func < (left: StreamPosition, right: StreamPosition) -> Bool { left.offset < right.offset }

    /// The offset of the last message of a batch. It is also the end of a journal whose last batch this is; 0 if
    /// `sequence` is 0, which means that there is no batch.
    package static func end(of sequence: UInt64) -> UInt64 {
        sequence == 0 ? 0 : min(sequence, maximumSequence) * slotCount + (slotCount - 1)
    }

    /// The sequence at which a reader begins that has read everything up to `offset`. The batch there can contain
    /// messages up to `offset`, too.
    package static func start(after offset: UInt64) -> UInt64 {
        let place = StreamPosition(offset: offset)
        return max(1, place.slot == slotCount - 1 ? place.sequence + 1 : place.sequence)
    }

    /// The last offset before a sequence: everything up to it was removed if the stream begins with this sequence.
    package static func end(before sequence: UInt64) -> UInt64 {
        sequence <= 1 ? 0 : end(of: sequence - 1)
    }

    /// The offset that is about `distance` messages after an offset, or before it if `distance` is negative. It differs
    /// from `offset`, unless `distance` or `offset` is 0. Each sequence of the stream counts as one message.
    package static func offset(_ offset: UInt64, by distance: Int) -> UInt64 {
        guard distance != 0 else { return offset }
        let place = StreamPosition(offset: offset)
        let count = min(UInt64(distance.magnitude), 1 << 53)
        if distance < 0 {
            return count < place.sequence ? end(of: place.sequence - count) : 0
        }
        return end(of: min(place.sequence + count, maximumSequence))
    }
}
