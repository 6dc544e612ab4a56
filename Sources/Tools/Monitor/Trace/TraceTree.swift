package import EventBus
package import Foundation

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

/// What a trace needs to know of a message.
package struct TracedMessage: Hashable, Sendable {
    package let id: String
    package let cause: String?
    package let type: MessageType
    package let key: String?
    /// The process that published it: `name/instance`.
    package let source: String
    package let platform: String?
    package let time: Date
    package let position: Position?
    /// The W3C trace that it says it belongs to; nil if it says none that can be read.
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

    /// Earlier ones first; what was said in the same millisecond in the order of the journal.
    static func isEarlier(_ left: TracedMessage, _ right: TracedMessage) -> Bool {
        guard left.time == right.time else { return left.time < right.time }
        return (left.position?.offset ?? 0, left.id) < (right.position?.offset ?? 0, right.id)
    }
}

/// Puts messages in the order of a tree, without recursion: chains may be long.
struct TraceTreeBuilder {
    private let messages: [TracedMessage]
    private let start: Date
    /// By index, so that a message which came twice is shown twice.
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
        // What no beginning leads to goes round in circles: each is entered where it is earliest.
        for index in messages.indices where !isPlaced[index] { place(index, .cycle) }
        return placed
    }

    /// How many levels a line can show: a chain may be thousands of messages long.
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

    /// Messages carry milliseconds.
    private func distance(from: Date, to: Date) -> Duration {
        .milliseconds(Int64(clamping: Int((to.timeIntervalSince(from) * 1000).rounded())))
    }
}
