package import BusFormat
internal import Foundation

/// The sequences of the batches in a stretch of the journal. The steward writes it when it has read the stretch, so
/// that it can find out later that no server has a batch any more.
package struct InventoryRecord: LayoutRecord {
    package static let title = "an inventory of the journal"
    /// The maximum number of sequences in a stretch.
    package static let maximumLength: UInt64 = 8192

    /// The epoch of the journal.
    package let epoch: UInt64
    /// The first sequence of the stretch.
    package let first: UInt64
    /// The number of sequences in the stretch, from 0.
    package private(set) var length: UInt64 = 0
    /// One bit for each sequence that is a batch. The first sequence has the lowest bit of the first byte.
    private var batches = Data()

    package init(first: UInt64, epoch: UInt64) {
        self.first = first
        self.epoch = epoch
    }

    /// The first sequence after the stretch.
    package var end: UInt64 { first + length }

    /// The sequences of the batches, in ascending order.
    package var sequences: [UInt64] {
        (0..<length).filter { batches[batches.startIndex + Int($0 / 8)] & 1 << ($0 % 8) != 0 }.map { first + $0 }
    }

    /// Extends the stretch up to a sequence.
    /// - Parameter isBatch: True if this sequence is a batch. No other added one is.
    /// - Returns: False if the sequence does not fit into the stretch.
    package mutating func extend(to sequence: UInt64, isBatch: Bool) -> Bool {
        guard sequence >= end else { return true }
        guard sequence - first < Self.maximumLength else { return false }
        length = sequence - first + 1
        batches.append(contentsOf: repeatElement(0, count: Int((length + 7) / 8) - batches.count))
        if isBatch { batches[batches.startIndex + Int((length - 1) / 8)] |= 1 << ((length - 1) % 8) }
        return true
    }

    package func check() throws(ProtocolError) {
        guard first > 0, first <= StreamPosition.maximumSequence, length <= Self.maximumLength,
            batches.count == Int((length + 7) / 8)
        else { throw ProtocolError(.malformed, "\(Self.title) is damaged: its stretch and its size do not agree") }
    }
}
