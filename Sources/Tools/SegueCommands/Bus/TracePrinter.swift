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
        if !json, output.isTerminal { try await draw(story) }
    }

    func show(_ story: Story) async throws {
        guard json else { return try await draw(story) }
        for node in story.tree.nodes { try await output.writeLine(JSONLine.text(Row(node))) }
    }

    private func draw(_ story: Story) async throws {
        let tree = story.tree
        let lines = format.lines(tree).map { $0.rendered(isColored: output.isColored, columns: output.columns) }
        let text = (lines + [format.summary(story, tree)]).map { "\($0)\n" }.joined()
        // Over the former drawing.
        try await output.write((drawn == 0 ? "" : "\u{1B}[\(drawn)F\u{1B}[J") + text)
        drawn = lines.count + 1
    }

    private struct Row: Encodable {
        let id: String
        let type: MessageType
        let key: String?
        let source: String
        let platform: String?
        let time: String
        let cause: String?
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
            depth = node.depth
            sinceCause = node.sinceCause.map { $0 / .milliseconds(1) }
            sinceStart = node.sinceStart / .milliseconds(1)
            critical = node.isCritical
            causeIsMissing = node.origin == .unknown
        }
    }
}
