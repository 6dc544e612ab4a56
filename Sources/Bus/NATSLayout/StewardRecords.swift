package import BusFormat
package import EventBus
package import Foundation

/// The leading steward, under `k.steward`.
package struct StewardRecord: LayoutRecord {
    package static let title = "the record of the steward"

    package let instance: UUID
    /// Grows with each new steward.
    package let term: UInt64

    package init(instance: UUID, term: UInt64) {
        self.instance = instance
        self.term = term
    }

    package func check() throws(ProtocolError) {
        guard term < 1 << 53 else { throw ProtocolError(.malformed, "\(Self.title) is damaged: its term is too high") }
    }
}

/// The sequence of the journal up to which the documents and dead letters are up to date, under `d.~mark`.
package struct WatermarkRecord: LayoutRecord {
    package static let title = "the mark of the documents"

    package let sequence: UInt64
    /// The epoch of the journal.
    package let epoch: UInt64

    package init(sequence: UInt64, epoch: UInt64) {
        self.sequence = sequence
        self.epoch = epoch
    }

    package func check() throws(ProtocolError) {
        guard sequence <= StreamPosition.maximumSequence else {
            throw ProtocolError(.malformed, "\(Self.title) is damaged: its sequence is too high")
        }
    }
}

/// The sequence up to which retention has removed all batches, under `k.removal`. It is written before they are
/// removed.
///
/// The first batch of the stream does not show this: control records may have the sequences before it.
package struct RemovalRecord: LayoutRecord {
    package static let title = "the record of the removed messages"

    package let sequence: UInt64

    package init(sequence: UInt64) {
        self.sequence = sequence
    }

    package func check() throws(ProtocolError) {
        guard sequence <= StreamPosition.maximumSequence else {
            throw ProtocolError(.malformed, "\(Self.title) is damaged: its sequence is too high")
        }
    }
}

/// The offset of the newest message of each type up to the watermark, under `d.~types`: also of a message that
/// retention has removed.
package struct TypeTable: LayoutRecord {
    package static let title = "the table of message types"
    /// The maximum number of types. Further types are found in the journal only.
    private static let capacity = 4096

    private var offsets: [String: UInt64]

    package init() {
        offsets = [:]
    }

    package mutating func record(_ type: MessageType, at offset: UInt64) {
        let name = type.description
        guard let known = offsets[name] else {
            if offsets.count < Self.capacity { offsets[name] = offset }
            return
        }
        offsets[name] = max(known, offset)
    }

    /// Returns the table of a journal that has lost its messages after an offset.
    package func limited(to offset: UInt64) -> TypeTable {
        var table = self
        table.offsets = offsets.mapValues { min($0, offset) }
        return table
    }

    /// The newest message of each type that a filter selects. The subjects of the filters are ignored.
    package func newest(matching filters: [MessageFilter]) -> [MessageType: UInt64] {
        var newest: [MessageType: UInt64] = [:]
        for (name, offset) in offsets {
            guard let type = MessageType(name),
                filters.contains(where: { $0.matches(type, subject: $0.subject ?? "") })
            else { continue }
            newest[type] = offset
        }
        return newest
    }

    package func check() throws(ProtocolError) {
        guard offsets.count <= Self.capacity else {
            throw ProtocolError(.tooLarge, "\(Self.title) has more than \(Self.capacity) types")
        }
        guard offsets.allSatisfy({ MessageType($0) != nil && $1 <= Position.greatestOffset }) else {
            throw ProtocolError(
                .malformed, "\(Self.title) is damaged: a name is not a message type, or an offset is too high")
        }
    }
}
