package import EventBus
package import Foundation

/// The messages of a story as a tree of causes and effects.
///
/// The messages can be in any order. A cause can be missing, and the causes can form a cycle.
package struct TraceTree: Hashable, Sendable {
    package struct Node: Hashable, Sendable {
        package let message: TracedMessage
        /// The number of ancestors; 0 for a root.
        package let depth: Int
        package let origin: Origin
        /// The time since the cause. Nil for a root.
        package let sinceCause: Duration?
        package let sinceStart: Duration
        /// One element for each ancestor below the root, and the last for the node itself: true if another effect of
        /// the same cause follows. Only the last 32 elements are kept. Empty for a root.
        package let hasNext: [Bool]
        /// True if the node is in the chain that led to the last message.
        package fileprivate(set) var isCritical = false
    }

    package enum Origin: Hashable, Sendable {
        /// The message has no cause.
        case none
        /// The cause is in the tree.
        case cause
        /// The cause is not among the messages.
        case unknown
        /// The chain of causes contains a cycle.
        case cycle
    }

    /// The nodes in depth-first order: a cause is before its effects, except in a cycle. The effects of a cause are in
    /// the order of time.
    package private(set) var nodes: [Node] = []

    package init(_ messages: [TracedMessage]) {
        var builder = TraceTreeBuilder(messages)
        nodes = builder.nodes()
        markCritical()
    }

    /// The time from the first to the last message.
    package var duration: Duration { nodes.map(\.sinceStart).max() ?? .zero }

    /// The chain that led to the last message.
    package var criticalPath: [Node] { nodes.filter(\.isCritical) }

    private mutating func markCritical() {
        // Several messages can have the latest time. Of these, the deepest is the last message; of several deepest
        // messages, the last in the tree.
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

/// The properties of a message that a trace needs.
package struct TracedMessage: Hashable, Sendable {
    package let id: String
    package let cause: String?
    package let type: MessageType
    package let key: String?
    /// The process that published the message: `name/instance`.
    package let source: String
    package let platform: String?
    package let time: Date
    package let position: Position?
    /// The id of the message's W3C trace. Nil if the message has no valid `traceparent`.
    package let trace: String?

    package init(_ message: Envelope) {
        let attributes = message.attributes
        id = attributes.id
        cause = attributes.causationID
        type = attributes.type
        key = attributes.key
        source = attributes.source
        platform = attributes.platform
        time = attributes.time
        position = message.position
        trace = attributes.traceparent.flatMap(TraceContext.init(parsing:))?.traceID
    }

    /// Returns true if `left` is before `right` in the order of times. Messages of the same time are in the order of
    /// their offsets.
    static func isEarlier(_ left: TracedMessage, _ right: TracedMessage) -> Bool {
        guard left.time == right.time else { return left.time < right.time }
        return (left.position?.offset ?? 0, left.id) < (right.position?.offset ?? 0, right.id)
    }
}

/// Orders messages as a tree. It does not use recursion because chains can be long.
struct TraceTreeBuilder {
    private let messages: [TracedMessage]
    private let start: Date
    /// The indices of the effects of each message, by the message's index.
    private var effects: [Int: [Int]] = [:]
    private var beginnings: [(index: Int, origin: TraceTree.Origin)] = []
    private var isPlaced: [Bool]
    private var placed: [TraceTree.Node] = []

    init(_ messages: [TracedMessage]) {
        self.messages = messages.sorted(by: TracedMessage.isEarlier)
        start = self.messages.first?.time ?? .distantPast
        isPlaced = Array(repeating: false, count: messages.count)
        let indices = Dictionary(zip(self.messages.map(\.id), self.messages.indices)) { first, _ in first }
        for (index, message) in self.messages.enumerated() {
            switch message.cause.map({ indices[$0] }) {
            case nil: beginnings.append((index, .none))
            case .some(nil): beginnings.append((index, .unknown))
            case .some(index): beginnings.append((index, .cycle))
            case .some(.some(let cause)): effects[cause, default: []].append(index)
            }
        }
    }

    mutating func nodes() -> [TraceTree.Node] {
        for beginning in beginnings { place(beginning.index, beginning.origin) }
        // The remaining messages are in cycles or follow from cycles. The earliest remaining message becomes a root.
        for index in messages.indices where !isPlaced[index] { place(index, .cycle) }
        return placed
    }

    /// The maximum number of elements of ``TraceTree/Node/hasNext``.
    private static let shownLevels = 32

    private struct Branch {
        let index: Int
        let depth: Int
        let origin: TraceTree.Origin
        let cause: Int?
        let hasNext: [Bool]
    }

    private mutating func place(_ beginning: Int, _ origin: TraceTree.Origin) {
        var branches = [Branch(index: beginning, depth: 0, origin: origin, cause: nil, hasNext: [])]
        while let branch = branches.popLast() {
            guard !isPlaced[branch.index] else { continue }
            isPlaced[branch.index] = true
            placed.append(node(branch))
            let effects = (effects[branch.index] ?? []).filter { !isPlaced[$0] }
            for (place, effect) in effects.enumerated().reversed() {
                let hasNext = Array((branch.hasNext + [place < effects.count - 1]).suffix(Self.shownLevels))
                branches.append(
                    Branch(
                        index: effect, depth: branch.depth + 1, origin: .cause, cause: branch.index, hasNext: hasNext))
            }
        }
    }

    private func node(_ branch: Branch) -> TraceTree.Node {
        let message = messages[branch.index]
        return TraceTree.Node(
            message: message, depth: branch.depth, origin: branch.origin,
            sinceCause: branch.cause.map { distance(from: messages[$0].time, to: message.time) },
            sinceStart: distance(from: start, to: message.time), hasNext: branch.hasNext)
    }

    /// The time between two messages, rounded to milliseconds.
    private func distance(from: Date, to: Date) -> Duration {
        .milliseconds(Int64(clamping: Int((to.timeIntervalSince(from) * 1000).rounded())))
    }
}
