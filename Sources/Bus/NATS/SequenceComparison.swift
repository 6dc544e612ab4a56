internal import DequeModule

/// Compares the messages of several sources of one stream: replicas, or a record of what was stored.
///
/// Each source reports its messages in ascending order of their sequences, and then its end. The comparison returns the
/// messages that some sources lack, and the sequences at which they have different ones, in ascending order, as soon as
/// every source has reported beyond them.
package struct SequenceComparison: Sendable {
    package struct Message: Hashable, Sendable {
        package let sequence: Int
        /// The time at which the leader has stored the message, which all replicas have; nil if the source does not know
        /// it. Messages with the same sequence and different times are different messages.
        package let time: Int64?
    }

    package enum Step: Hashable, Sendable {
        /// A source must report its next message, or its end.
        case needs(Int)
        /// Some sources have a message, and those in `lacking` do not.
        case difference(sequence: Int, lacking: Set<Int>)
        /// Sources have different messages at a sequence: the time of each of them that has one.
        case conflict(sequence: Int, times: [Int: Int64])
        /// All sources have ended.
        case end
    }

    private struct Source {
        var messages: Deque<Message> = []
        var last = 0
        var hasEnded = false
    }

    private var sources: [Source]

    /// - Parameter count: The number of sources. Their numbers begin with 0.
    package init(count: Int) {
        sources = Array(repeating: Source(), count: count)
    }

    /// - Parameter sequence: A sequence that is not higher than the source's last one is ignored.
    package mutating func add(_ sequence: Int, at time: Int64? = nil, from source: Int) {
        guard sequence > sources[source].last else { return }
        sources[source].last = sequence
        sources[source].messages.append(Message(sequence: sequence, time: time))
    }

    package mutating func end(_ source: Int) {
        sources[source].hasEnded = true
    }

    /// The source's next sequence that has not been compared; nil if it has reported no more.
    package func next(of source: Int) -> Int? { sources[source].messages.first?.sequence }

    package func hasEnded(_ source: Int) -> Bool { sources[source].hasEnded && sources[source].messages.isEmpty }

    /// Compares as far as the sources have reported.
    package mutating func step() -> Step {
        while true {
            if let source = sources.indices.first(where: { next(of: $0) == nil && !sources[$0].hasEnded }) {
                return .needs(source)
            }
            guard let sequence = sources.indices.compactMap(next).min() else { return .end }
            let lacking = Set(sources.indices.filter { next(of: $0) != sequence })
            var times: [Int: Int64] = [:]
            for source in sources.indices where !lacking.contains(source) {
                times[source] = sources[source].messages.removeFirst().time
            }
            if Set(times.values).count > 1 { return .conflict(sequence: sequence, times: times) }
            if !lacking.isEmpty { return .difference(sequence: sequence, lacking: lacking) }
        }
    }
}
