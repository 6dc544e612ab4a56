package import ArgumentParser
internal import EventBus
internal import Monitor
internal import Navigation
internal import Support

package struct TraceCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Shows what a message has led to, across all processes.",
        discussion: """
            segue trace 4f1c2a     a message or a story, by its id or how that begins
            segue trace --last     the story that began last
            segue trace --follow   the next one, as it unfolds
            segue trace --last --json | jq .sinceCause

            A tree: each message below its cause, with the time since. * marks the
            chain that led to the last one. Below it stands the W3C trace id, by which
            other tools know the story.
            """)

    @OptionGroup var options: BusOptions

    @Argument(help: "The id of a message or of its story, or how that begins.")
    var id: String?

    @Flag(help: "The story that began last. What views report of what they show begins none.")
    var last = false

    @Flag(help: "Wait for the next story, and follow it until nothing more comes.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "With --follow: for how long nothing more may come, as in 500ms. As long as a guard waits, more may. (default: 1s)",
            valueName: "time"), transform: Duration.argument)
    var quiet: Duration?

    @Option(
        help: ArgumentHelp(
            "Where to look from: \(Self.starts). (default: beginning)", valueName: "start"),
        transform: Self.start)
    var since: MonitorStart?

    private static let starts = "beginning, \(MonitorStart.places)"

    private static func start(_ text: String) throws -> MonitorStart {
        guard let start = MonitorStart(argument: text), ![.now, .retained, .last].contains(start) else {
            throw ValidationError("it has to be \(starts)")
        }
        return start
    }

    @Flag(help: "One JSON object a message.")
    var json = false

    package init() {}

    package func validate() throws {
        guard [id != nil, last, follow].count(where: { $0 }) == 1 else {
            throw ValidationError("name a message, or use either --last or --follow")
        }
        guard id?.isEmpty != true else { throw ValidationError("the id is empty; 'segue trace --last' needs none") }
        guard follow || quiet == nil else { throw ValidationError("--quiet goes with --follow") }
        guard !follow || since == nil else { throw ValidationError("--follow and --since exclude each other") }
    }

    package func run() async throws {
        let (since, quiet, isFollowed) = (since ?? .beginning, quiet ?? .seconds(1), follow)
        let printer = TracePrinter(json: json)
        try await options.withBus { bus in
            if isFollowed {
                let follower = StoryFollower(bus: bus, quiet: quiet)
                try await Console.output.whileRead {
                    let story = try await follower.follow {
                        await Console.error.tell("waiting for something to happen")
                    } _: {
                        try await printer.update($0)
                    }
                    try await printer.show(story)
                }
            } else {
                let finder = StoryFinder(bus: bus, start: since)
                try await printer.show(try await story(finder))
            }
        }
    }

    private func story(_ finder: StoryFinder) async throws -> Story {
        guard let id else {
            guard let last = try await finder.last() else {
                throw CommandError(code: "no-story", "no story has begun yet", recovery: "see 'segue trace --follow'")
            }
            return last
        }
        switch try await finder.match(id) {
        case .story(let id): return try await finder.story(id)
        case .none:
            throw CommandError(
                code: "no-message", "there is no message '\(id)' in the journal".printable,
                recovery: "'segue monitor -v --since beginning' shows ids")
        case .several(let stories):
            throw CommandError(
                code: "ambiguous-id", "'\(id)' may be \(stories.joined(separator: ", "))".printable,
                recovery: "give more of the id")
        }
    }
}

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
        for node in story.tree.nodes { try await output.writeLine(JSONValue(encoding: Row(node)).description) }
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
