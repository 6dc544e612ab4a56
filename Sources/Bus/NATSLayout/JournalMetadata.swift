package import EventBus
internal import Support

/// The metadata of the journal's stream, by which clients recognize a journal.
package enum JournalMetadata {
    /// The version of the subjects and records that this version of the module uses.
    package static let layout = "1"
    /// The key of the stream's metadata that holds the epoch of the journal: 16 hexadecimal digits.
    package static let epochKey = "segue-epoch"
    /// The key of the stream's metadata that holds the epoch before the current one, if the journal has lost its end.
    package static let previousEpochKey = "segue-previous-epoch"
    /// The key of the stream's metadata that holds the ended epochs: see ``JournalEpochs``.
    package static let endedEpochsKey = "segue-ended-epochs"
    /// The key of the stream's metadata that holds ``layout``.
    package static let layoutKey = "segue-layout"

    /// An epoch as 16 hexadecimal digits.
    package static func text(of epoch: UInt64) -> String {
        let digits = String(epoch, radix: 16)
        return String(repeating: "0", count: max(0, 16 - digits.count)) + digits
    }

    /// Nil if the text is not an epoch.
    package static func epoch(_ text: String?) -> UInt64? { text.flatMap { UInt64($0, radix: 16) } }
}

/// The epochs of a journal: the present one, and those that ended because the stream had lost its last messages.
///
/// What a client has recorded in an ended epoch counts only if its record is one of those that the stream still had
/// then. Every record of a position therefore names its epoch, and readers call ``counts(_:recordedAt:)``.
package struct JournalEpochs: Hashable, Sendable {
    private struct Ended: Hashable, Sendable {
        let epoch: UInt64
        /// The last sequence of this epoch that the stream still had when the next epoch began.
        var end: UInt64
    }

    /// The maximum number of ended epochs that are remembered.
    private static let capacity = 32

    package let current: UInt64
    /// The oldest one comes first.
    private var ended: [Ended]

    /// The epochs of a journal that has never lost its end.
    package init(_ current: UInt64) {
        self.current = current
        ended = []
    }

    /// Reads the metadata of a stream. Nil if it is not that of a journal.
    package init?(metadata: [String: String]) {
        guard let current = JournalMetadata.epoch(metadata[JournalMetadata.epochKey]) else { return nil }
        self.current = current
        ended = (metadata[JournalMetadata.endedEpochsKey] ?? "").split(scalar: ",").suffix(Self.capacity)
            .compactMap { entry in
                let parts = entry.split(scalar: "/")
                guard parts.count == 2, let epoch = UInt64(parts[0], radix: 16), let end = UInt64(parts[1]),
                    end <= StreamPosition.maximumSequence
                else { return nil }
                return Ended(epoch: epoch, end: end)
            }
    }

    /// Reads the metadata of a stream.
    /// - Parameter place: The address of the servers.
    /// - Throws: ``BusError`` with code `address` if the stream is not a journal, or has another layout.
    package init(
        checking metadata: [String: String], of stream: String, at place: String
    ) throws(BusError) {
        guard let layout = metadata[JournalMetadata.layoutKey], let epochs = JournalEpochs(metadata: metadata) else {
            throw BusError(.address, "the stream '\(stream)' at \(place) is not a journal; choose another namespace")
        }
        guard layout == JournalMetadata.layout else {
            throw BusError(
                .address,
                "the journal '\(stream)' at \(place) has layout \(layout.shortened()), and this program knows layout "
                    + "\(JournalMetadata.layout); update this program")
        }
        self = epochs
    }

    /// The metadata of the stream.
    package var metadata: [String: String] {
        var metadata = [JournalMetadata.epochKey: JournalMetadata.text(of: current)]
        if !ended.isEmpty {
            metadata[JournalMetadata.previousEpochKey] = ended.last.map { JournalMetadata.text(of: $0.epoch) }
            metadata[JournalMetadata.endedEpochsKey] =
                ended.map { "\(JournalMetadata.text(of: $0.epoch))/\($0.end)" }.joined(separator: ",")
        }
        return metadata
    }

    /// Returns the epochs after the present one has ended.
    /// - Parameters:
    ///   - new: The next epoch.
    ///   - end: The last sequence that the stream still has of the present one.
    ///   - lost: An epoch that the stream does not know any more, because its metadata was lost, too.
    package func beginning(_ new: UInt64, after end: UInt64, lost: UInt64? = nil) -> JournalEpochs {
        var next = JournalEpochs(new)
        next.ended = ended + ([current, lost].compactMap(\.self).map { Ended(epoch: $0, end: end) })
        while next.ended.count > Self.capacity {
            // A position of the one that is forgotten is limited by the ends after it.
            let end = next.ended.removeFirst().end
            next.ended[0].end = min(next.ended[0].end, end)
        }
        return next
    }

    /// True if the epoch is the present one, or one that has ended.
    package func knows(_ epoch: UInt64) -> Bool { epoch == current || ended.contains { $0.epoch == epoch } }

    /// The last sequence at which an ended epoch agrees with the present one; nil for the present one, and for one that
    /// is not known.
    package func end(of epoch: UInt64) -> UInt64? {
        ended.firstIndex { $0.epoch == epoch }.flatMap { ended[$0...].map(\.end).min() }
    }

    /// True if a position counts in the present epoch.
    /// - Parameters:
    ///   - epoch: The epoch in which it was recorded; nil if an earlier version has recorded it, which did not say.
    ///   - sequence: The sequence of its record. A later record of an ended epoch relies on records that are lost.
    package func counts(_ epoch: UInt64?, recordedAt sequence: UInt64) -> Bool {
        if epoch == current { return true }
        if let epoch, let end = end(of: epoch) { return sequence <= end }
        return ended.map(\.end).min().map { sequence <= $0 } ?? (epoch == nil)
    }
}
