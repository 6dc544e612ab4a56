internal import Support

/// The messages that retention removed before a durable consumer handled them, until the consumer has confirmed that it
/// knows of them.
package struct CutOffs: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package fileprivate(set) var cutOff: CutOff
        /// A number for the claims under which the entry was reported: with ZeroMQ the owner generation of the last
        /// claim that reported it, on NATS the sequence of the first record that has it. Nil if it has none yet.
        package let stage: UInt64?

        package init(_ cutOff: CutOff, stage: UInt64?) {
            self.cutOff = cutOff
            self.stage = stage
        }
    }

    package private(set) var entries: [Entry]

    package init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// One cut-off for each type, sorted by their first offsets: what a claim reports.
    package var report: [CutOff] {
        Dictionary(grouping: entries.map(\.cutOff), by: \.type).values
            .compactMap { same in same.dropFirst().reduce(same.first) { $0?.merged(with: $1) } }
            .sorted { $0.offsets.lowerBound < $1.offsets.lowerBound }
    }

    /// Adds messages that were lost since. Entries of one type without a stage become one, so that the number of
    /// entries does not grow with every retention.
    package mutating func add(_ new: [CutOff]) {
        for cutOff in new {
            if let index = entries.firstIndex(where: { $0.stage == nil && $0.cutOff.type == cutOff.type }) {
                entries[index].cutOff = entries[index].cutOff.merged(with: cutOff)
            } else {
                entries.append(Entry(cutOff, stage: nil))
            }
        }
    }

    /// Records that a claim reports all entries, also those that an earlier claim has reported.
    /// - Parameter ownerGeneration: 0 for a claim of a member that owns no partition. It confirms nothing later.
    package mutating func report(under ownerGeneration: UInt64) {
        entries = report.map { Entry($0, stage: ownerGeneration > 0 ? ownerGeneration : nil) }
    }

    /// Removes the entries that the consumer has confirmed by its progress.
    /// - Parameter isConfirmed: True for the stages of these entries.
    package mutating func confirm(where isConfirmed: (_ stage: UInt64) -> Bool) {
        entries.removeAll { $0.stage.map(isConfirmed) ?? false }
    }
}

extension CutOff {
    fileprivate func merged(with other: CutOff) -> CutOff {
        let (sum, hasOverflown) = count.addingReportingOverflow(other.count)
        let (first, last) = (offsets.lowerBound, offsets.upperBound)
        return CutOff(
            type: type, count: Int(SafeIntegers.limit(hasOverflown ? .max : sum)),
            offsets: min(first, other.offsets.lowerBound)...max(last, other.offsets.upperBound))
    }
}
