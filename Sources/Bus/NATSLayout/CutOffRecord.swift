package import BusFormat
package import EventBus

/// The messages that retention removed before a durable consumer handled them, under `k.x.CONSUMER`.
package struct CutOffRecord: LayoutRecord {
    package static let title = "the cut-offs of a durable consumer"

    private struct Entry: Codable, Hashable {
        let type: MessageType
        let count: Int
        let first: UInt64
        let last: UInt64
        /// The sequence of the record that was the first to have this entry; nil in this record.
        let sequence: UInt64?
    }

    private let entries: [Entry]

    private init(_ cutOffs: CutOffs) {
        entries = cutOffs.entries.map {
            Entry(
                type: $0.cutOff.type, count: $0.cutOff.count, first: $0.cutOff.offsets.lowerBound,
                last: $0.cutOff.offsets.upperBound, sequence: $0.stage)
        }
    }

    package init() {
        entries = []
    }

    /// Returns the record that replaces this one.
    /// - Parameters:
    ///   - sequence: The sequence of this record; nil if it is not recorded.
    ///   - progress: See ``cutOffs(recordedAt:progress:)``. The cut-offs that are no longer needed are left out.
    package func adding(
        _ cutOffs: [CutOff], recordedAt sequence: UInt64?, progress: UInt64?
    ) -> CutOffRecord {
        var all = outstanding(recordedAt: sequence, progress: progress)
        all.add(cutOffs)
        return CutOffRecord(all)
    }

    /// The cut-offs that a claim reports.
    ///
    /// A claimant reads this record after it has written its fences. So a cut-off whose sequence is before a fence was
    /// reported under that fence, and is no longer needed when there is progress under it. A later cut-off may not have
    /// been reported, and is repeated.
    /// - Parameters:
    ///   - sequence: The sequence of this record.
    ///   - progress: The sequence of the newest fence under which progress was recorded; nil if there is none.
    package func cutOffs(recordedAt sequence: UInt64?, progress: UInt64?) -> [CutOff] {
        outstanding(recordedAt: sequence, progress: progress).report
    }

    private func outstanding(recordedAt sequence: UInt64?, progress: UInt64?) -> CutOffs {
        var cutOffs = CutOffs(
            entries.map { entry in
                CutOffs.Entry(
                    CutOff(type: entry.type, count: entry.count, offsets: entry.first...entry.last),
                    stage: entry.sequence ?? sequence)
            })
        if let progress { cutOffs.confirm { $0 <= progress } }
        return cutOffs
    }

    package func check() throws(ProtocolError) {
        guard entries.allSatisfy({ $0.count > 0 && $0.first <= $0.last && $0.last <= Position.greatestOffset }) else {
            throw ProtocolError(.malformed, "\(Self.title) are damaged: a count or a range of offsets is invalid")
        }
    }
}
