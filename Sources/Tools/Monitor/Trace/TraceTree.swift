internal import Foundation

/// What caused what in a story, as a tree.
///
/// The messages may come in any order. Strangers may name causes that there are not, or that are their own effects.
package struct TraceTree: Hashable, Sendable {
    package struct Node: Hashable, Sendable {
        package let message: TracedMessage
        /// How many causes lie between it and the beginning.
        package let depth: Int
        package let origin: Origin
        /// The time since its cause; nil for a beginning.
        package let sinceCause: Duration?
        package let sinceStart: Duration
        /// For each level above it, and its own, whether more of the same cause follow further down; of deep ones the last.
        package let hasNext: [Bool]
        /// Whether it is on the chain that led to the last message.
        package fileprivate(set) var isCritical = false
    }

    package enum Origin: Hashable, Sendable {
        /// Nothing caused it.
        case none
        /// Its cause is in the tree.
        case cause
        /// Its cause is not among the messages.
        case unknown
        /// It is among what it is said to have caused.
        case cycle
    }

    /// Each cause before what it caused, and that in the order of time.
    package private(set) var nodes: [Node] = []

    package init(_ messages: [TracedMessage]) {
        var builder = TraceTreeBuilder(messages)
        nodes = builder.nodes()
        markCritical()
    }

    /// From its first to its last message.
    package var duration: Duration { nodes.map(\.sinceStart).max() ?? .zero }

    /// The chain that led to the last message.
    package var criticalPath: [Node] { nodes.filter(\.isCritical) }

    private mutating func markCritical() {
        // Of what was said in the same millisecond, what lies deepest came last, and of that what is journalled last.
        let last = nodes.indices.max { left, right in
            (nodes[left].sinceStart, nodes[left].depth, left) < (nodes[right].sinceStart, nodes[right].depth, right)
        }
        guard let last else { return }
        var depth = nodes[last].depth
        for index in (0...last).reversed() where nodes[index].depth == depth {
            nodes[index].isCritical = true
            depth -= 1
            if depth < 0 { break }
        }
    }
}
