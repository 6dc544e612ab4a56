internal import EventBus
internal import Monitor

/// Writes a trace to standard output, for a person or for a program.
actor TracePrinter {
    private let json: Bool
    private let format = TraceFormat()
    private let output = Console.output
    /// How many lines of the terminal the last drawing took.
    private var drawn = 0

    init(json: Bool) {
        self.json = json
    }

    /// Shows what is known so far, to a person who watches.
    func update(_ story: Story) async throws {
        if !json, output.isTerminal { try await draw(story, isLast: false) }
    }

    func show(_ story: Story) async throws {
        guard json else { return try await draw(story, isLast: true) }
        for node in story.tree.nodes { try await output.writeLine(JSONLine.text(Row(node))) }
    }

    /// - Parameter isLast: whether it stays, and so is whole.
    private func draw(_ story: Story, isLast: Bool) async throws {
        let (tree, columns) = (story.tree, output.columns)
        var (summary, trace) = (StyledText(), StyledText())
        summary.append(format.summary(story, tree))
        trace.append("trace \(story.traces.joined(separator: ", "))")
        let end = (story.traces.isEmpty ? [summary] : [summary, trace]).map {
            $0.rendered(isColored: false, columns: columns)
        }
        let rows = format.lines(tree).map { $0.rendered(isColored: output.isColored, columns: columns) }
        let lines = (isLast ? rows : output.fitting(rows, above: end.count)) + end
        // Over the former drawing.
        let start = drawn == 0 ? "" : TerminalCode.up(drawn) + TerminalCode.clearBelow
        try await output.write(start + lines.map { "\($0)\n" }.joined())
        drawn = lines.count
    }

    private struct Row: Encodable {
        let id: String
        let type: MessageType
        let key: String?
        let source: String
        let platform: String?
        let time: String
        let cause: String?
        /// The W3C trace.
        let trace: String?
        let depth: Int
        /// In milliseconds, as is the other.
        let sinceCause: Double?
        let sinceStart: Double
        let critical: Bool
        let causeIsMissing: Bool

        init(_ node: TraceTree.Node) {
            let message = node.message
            (id, type, key, source) = (message.id, message.type, message.key, message.source)
            (platform, time, cause) = (message.platform, Timestamp.text(of: message.time), message.cause)
            trace = message.trace
            depth = node.depth
            sinceCause = node.sinceCause.map { $0 / .milliseconds(1) }
            sinceStart = node.sinceStart / .milliseconds(1)
            critical = node.isCritical
            causeIsMissing = node.origin == .unknown
        }
    }
}
