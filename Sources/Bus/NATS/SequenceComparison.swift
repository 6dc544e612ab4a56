internal import DequeModule

/// Compares the messages of several sources of one stream: replicas, or a record of what was stored.
///
/// Each source tells the sequences of its messages in ascending order, and then that it has no more. The comparison says
/// which sequences some sources lack, in ascending order, as soon as all sources have told enough.
package struct SequenceComparison: Sendable {
    package enum Step: Hashable, Sendable {
        /// A source must tell its next sequence, or its end.
        case needs(Int)
        /// Some sources have a message, and those in `lacking` do not.
        case difference(sequence: Int, lacking: Set<Int>)
        /// All sources have ended.
        case end
    }

    private struct Source {
        var sequences: Deque<Int> = []
        var last = 0
        var hasEnded = false
    }

    private var sources: [Source]

    /// - Parameter count: The number of sources. Their numbers begin with 0.
    package init(count: Int) {
        sources = Array(repeating: Source(), count: count)
    }

    /// - Parameter sequence: A sequence that is not higher than the source's last one is ignored.
    package mutating func add(_ sequence: Int, from source: Int) {
        guard sequence > sources[source].last else { return }
        sources[source].last = sequence
        sources[source].sequences.append(sequence)
    }

    package mutating func end(_ source: Int) {
        sources[source].hasEnded = true
    }

    /// The source's next sequence that has not been compared; nil if it has told no more.
    package func next(of source: Int) -> Int? { sources[source].sequences.first }

    package func hasEnded(_ source: Int) -> Bool { sources[source].hasEnded && sources[source].sequences.isEmpty }

    /// Compares as far as the sources have told.
    package mutating func step() -> Step {
        while true {
            if let source = sources.indices.first(where: { next(of: $0) == nil && !sources[$0].hasEnded }) {
                return .needs(source)
            }
            guard let sequence = sources.compactMap(\.sequences.first).min() else { return .end }
            let lacking = Set(sources.indices.filter { next(of: $0) != sequence })
            for source in sources.indices where !lacking.contains(source) { sources[source].sequences.removeFirst() }
            if !lacking.isEmpty { return .difference(sequence: sequence, lacking: lacking) }
        }
    }
}
