/// The differences between the servers of a stream.
struct ReplicaDifferences: Hashable {
    /// The sequences that a server lacks, and another one has.
    var incomplete: [String: SequenceGaps] = [:]
    /// The sequences at which a server has another message than the leader.
    var diverged: [String: SequenceGaps] = [:]
    /// The sequences of batches that no server has.
    var lost = SequenceGaps()

    /// Those differences that were also found at another time. While a server has another history, what the servers lack
    /// says nothing.
    func confirmed(by other: ReplicaDifferences) -> ReplicaDifferences {
        var both = ReplicaDifferences()
        both.diverged = Self.common(diverged, other.diverged)
        guard both.diverged.isEmpty else { return both }
        both.incomplete = Self.common(incomplete, other.incomplete)
        both.lost = lost.intersection(other.lost)
        return both
    }

    /// These differences, and what is known of servers that were not read, and of messages that no server has.
    func keeping(_ known: ReplicaDifferences?, of unread: Set<String>) -> ReplicaDifferences {
        guard let known, !unread.isEmpty else { return self }
        var all = self
        all.incomplete.merge(known.incomplete.filter { unread.contains($0.key) }) { own, _ in own }
        all.diverged.merge(known.diverged.filter { unread.contains($0.key) }) { own, _ in own }
        // What no server has is not looked for while one is away.
        if lost.isEmpty { all.lost = known.lost }
        return all
    }

    private static func common(
        _ first: [String: SequenceGaps], _ second: [String: SequenceGaps]
    ) -> [String: SequenceGaps] {
        first.reduce(into: [:]) { both, entry in
            let gaps = second[entry.key].map(entry.value.intersection)
            if let gaps, !gaps.isEmpty { both[entry.key] = gaps }
        }
    }
}

/// Some sequences of a stream.
struct SequenceGaps: Hashable {
    /// The number of sequences that are kept. Higher ones are dropped.
    private static let capacity = 100_000
    private(set) var sequences: Set<Int> = []
    /// True if there are more.
    private(set) var isTruncated = false

    var isEmpty: Bool { sequences.isEmpty }
    var first: Int? { sequences.min() }

    mutating func add(_ sequence: Int) {
        if sequences.count < Self.capacity { sequences.insert(sequence) } else { isTruncated = true }
    }

    init() {}

    private init(sequences: Set<Int>, isTruncated: Bool) {
        (self.sequences, self.isTruncated) = (sequences, isTruncated)
    }

    func intersection(_ other: SequenceGaps) -> SequenceGaps {
        SequenceGaps(
            sequences: sequences.intersection(other.sequences), isTruncated: isTruncated || other.isTruncated)
    }

    /// Such as `12 messages (sequences 4 to 200)`, or `at least 100000 messages (sequences 4 to 200000 at least)`.
    var text: String {
        guard let first, let last = sequences.max() else { return "no messages" }
        let (atLeast, end) = isTruncated ? ("at least ", "\(last) at least") : ("", "\(last)")
        if first == last { return "\(atLeast)message \(first)" }
        return "\(atLeast)\(sequences.count) messages (sequences \(first) to \(end))"
    }
}
