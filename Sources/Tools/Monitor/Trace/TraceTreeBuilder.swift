internal import Foundation

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
