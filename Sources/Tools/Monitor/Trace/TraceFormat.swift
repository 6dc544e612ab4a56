internal import EventBus
package import Support

/// Writes a trace for people as a tree of lines. The chain that led to the last message is marked.
package struct TraceFormat: Sendable {
    private let zone: LocalZone

    /// - Parameter zone: The time zone of the times shown.
    package init(zone: LocalZone = .current) {
        self.zone = zone
    }

    /// - Parameter names: The names of coordinators, which are written instead of their sources.
    package func lines(_ tree: TraceTree, _ names: CoordinatorNames = CoordinatorNames()) -> [StyledText] {
        tree.nodes.map { line($0, names) }
    }

    /// A line with the duration and the numbers of messages, processes and steps.
    package func summary(_ story: Story, _ tree: TraceTree) -> String {
        let steps = tree.criticalPath.count - 1
        return "\(figures(tree)); \(count(max(0, steps), "step")) (*) to the last message\(dropped(story))"
    }

    /// A line with the duration and the numbers of messages and processes.
    package func shortSummary(_ story: Story, _ tree: TraceTree) -> String {
        "\(figures(tree)); --all shows each message\(dropped(story))"
    }

    private func figures(_ tree: TraceTree) -> String {
        let sources = Set(tree.nodes.map(\.message.source)).count
        return
            "\(count(tree.nodes.count, "message")) from \(count(sources, "process")) in \(tree.duration.sentenceText)"
    }

    private func dropped(_ story: Story) -> String {
        story.dropped == 0 ? "" : "; \(story.dropped) more are not shown"
    }

    private func line(_ node: TraceTree.Node, _ names: CoordinatorNames) -> StyledText {
        let message = node.message
        var line = StyledText()
        line.append(node.isCritical ? "* " : "  ", .bold)
        line.append(branch(node), .dim)
        line.append(message.type, node.isCritical ? .bold : nil, key: message.key)
        if let platform = message.platform, platform != message.key { line.append(" of \(platform)") }
        line.append("  \(names.name(of: message.source))", .dim)
        line.append(
            "  " + (node.sinceCause.map { "+\($0.sentenceText)" } ?? Timestamp.clock(of: message.time, in: zone)))
        if let remark = remark(on: node) { line.append("  \(remark)", .yellow) }
        return line
    }

    private func branch(_ node: TraceTree.Node) -> String {
        guard let isNotLast = node.hasNext.last else { return "" }
        return node.hasNext.dropLast().map { $0 ? "│  " : "   " }.joined() + (isNotLast ? "├─ " : "└─ ")
    }

    private func remark(on node: TraceTree.Node) -> String? {
        switch node.origin {
        case .none, .cause: nil
        case .unknown: "its cause was not found"
        case .cycle: "its causes form a cycle"
        }
    }

    private func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)" + (number == 1 ? "" : noun.ends(with: "s") ? "es" : "s")
    }
}
