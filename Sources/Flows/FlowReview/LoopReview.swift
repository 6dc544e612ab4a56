internal import Navigation
internal import Support

extension FlowReviewer {
    /// Finds rules that send each other commands without end, and redirects that lead to each other.
    mutating func reviewLoops() {
        var sent: [String: Set<String>] = [:]
        var rules: [String: String] = [:]
        for (rule, transition) in flow.placedRules where transition.onlySends {
            for type in transition.on {
                sent[type, default: []].formUnion(transition.actions.compactMap(\.command))
                rules[type] = rules[type] ?? rule.keyPath
            }
        }
        for type in cycles(in: sent).sorted() {
            let others = (sent[type] ?? []).sorted().joined(separator: "' and '")
            warn(
                .endless,
                "'\(type)' leads to '\(others)', and so to itself, without end; remove one of these actions, or let the rule "
                    + "change its conditions",
                at: "\(rules[type] ?? "transitions").do")
        }
        let redirects = flow.unconditionalRedirects
        for index in cycles(in: redirects.mapValues { [$0] }).sorted() {
            warn(
                .endless, "this redirect leads to itself through other redirects; correct one of them",
                at: "\(Flow.keyPath(ofLink: index)).redirect")
        }
    }

    /// The nodes of a graph from which it leads back to themselves, and those between two of them.
    private func cycles<Node: Hashable>(in successors: [Node: Set<Node>]) -> Set<Node> {
        var predecessors: [Node: Set<Node>] = [:]
        for (node, others) in successors {
            for other in others { predecessors[other, default: []].insert(node) }
        }
        return endless(successors, predecessors).intersection(endless(predecessors, successors))
    }

    /// The nodes from which a path without end begins.
    private func endless<Node: Hashable>(_ next: [Node: Set<Node>], _ former: [Node: Set<Node>]) -> Set<Node> {
        var counts = next.mapValues(\.count)
        var ends = former.keys.filter { counts[$0] == nil }
        while let end = ends.popLast() {
            for node in former[end] ?? [] {
                guard let count = counts[node] else { continue }
                counts[node] = count == 1 ? nil : count - 1
                if count == 1 { ends.append(node) }
            }
        }
        return Set(counts.keys)
    }
}

extension Flow.Transition {
    /// True if the rule changes nothing that keeps it from applying to the next message of its type.
    fileprivate var onlySends: Bool {
        `guard` == nil && after == nil && fields.isEmpty
            && actions.allSatisfy { $0.name == .send || $0.name == .openURL }
    }
}
