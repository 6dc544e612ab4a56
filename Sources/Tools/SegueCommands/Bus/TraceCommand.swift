package import ArgumentParser
internal import EventBus
package import Monitor
internal import Navigation
internal import Support

package struct TraceCommand: AsyncParsableCommand, WallTimeCommand {
    package static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Print a story: what a message has caused, across all processes.",
        discussion: """
            segue trace dc7420-1   the story of the message whose id begins or ends with dc7420-1
            segue trace --last     the newest story
            segue trace --follow   the next story, as its messages arrive
            segue trace --last --all
            segue trace --last --json | jq .sinceCause

            On a terminal, a line is a thing that happened, as in 'segue monitor', with the time since the story began. \
            With --all, and in a pipe or a file, each message is printed below its cause, with the time since the \
            cause; * marks the chain of causes of the last message. If the messages have W3C trace ids, these are printed below.

            The exit status is 1 if there is no such message or story, or several messages match.
            """)

    @OptionGroup var options: BusOptions

    @Argument(help: "The id of a message or of its story, or the beginning or the end of an id.")
    var id: String?

    @Flag(
        help: ArgumentHelp(
            "Print the newest story that a person began with a device or with 'segue send'; if there is none, the "
                + "newest that a service began. Reports of views about their screens do not begin a story."))
    var last = false

    @Flag(help: "Wait for the next story, and follow it until no more messages arrive.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "With --follow: the story ends after this time without a new message, such as 500ms, unless a guard still "
                + "waits for an answer. (default: 1s)", valueName: "duration"), transform: Duration.argument)
    var quiet: Duration?

    @Option(
        help: ArgumentHelp(
            "The start of the search: \(Self.starts). (default: beginning; with --last, about the last 65,000 "
                + "messages)", valueName: "start"),
        transform: Self.start)
    var since: MonitorStart?

    private static let starts = "beginning, \(MonitorStart.places)"

    private static func start(_ text: String) throws -> MonitorStart {
        guard let start = MonitorStart(argument: text), ![.now, .retained, .last].contains(start) else {
            throw ValidationError("it has to be \(starts)")
        }
        return start
    }

    @OptionGroup var zone: ZoneOptions

    @Flag(help: "Print every message, as a tree of causes.")
    var all = false

    @OptionGroup var output: OutputOptions

    package init() {}

    package func validate() throws {
        guard [id != nil, last, follow].count(where: { $0 }) == 1 else {
            throw ValidationError("write the id of a message, or use either --last or --follow")
        }
        guard id?.isEmpty != true else { throw ValidationError("the id is empty; write an id, or use --last") }
        guard follow || quiet == nil else { throw ValidationError("--quiet requires --follow") }
        guard !follow || since == nil else { throw ValidationError("--follow and --since exclude each other") }
    }

    package func run() async throws {
        let (since, quiet, isFollowed) = (since, quiet ?? .seconds(1), follow)
        let form: TracePrinter.Form = output.json ? .json : all || !Console.output.isTerminal ? .messages : .happenings
        try await options.withBus { bus in
            let printer = TracePrinter(form, directory: try await CoordinatorDirectory(of: bus))
            if isFollowed {
                let follower = StoryFollower(bus: bus, quiet: quiet)
                try await Console.output.whileRead {
                    let story = try await follower.follow {
                        await Console.error.tell("waiting for the next story")
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
            let (newest, notice) = try await Self.newest(finder)
            if let notice { await Console.error.tell(notice) }
            return newest
        }
        switch try await finder.match(id) {
        case .story(let id): return try await finder.story(id)
        case .none:
            throw CommandError(
                code: "no-message", "no message with the id '\(id)' was found",
                recovery: "'segue monitor -v --since beginning' prints ids")
        case .several(let stories):
            throw CommandError(
                code: "ambiguous-id", "'\(id)' matches several stories: \(stories.joined(separator: ", "))",
                recovery: "write more of the id")
        }
    }

    /// The story of `--last`, and a notice about the search. The notice is nil if a person began the story.
    /// - Throws: ``CommandError`` `no-story`; the errors of the bus.
    static func newest(_ finder: StoryFinder) async throws -> (story: Story, notice: String?) {
        let newest = try await finder.last()
        let place = newest.givenUpAt.map { " from offset \($0) on" }
        guard let story = newest.story else {
            throw CommandError(
                code: "no-story", "no story was found\(place ?? "")",
                recovery: place == nil
                    ? "see 'segue trace --follow'" : "search the whole journal with --since beginning")
        }
        let notice = place.map {
            "no person began a story\($0), so this is the newest story of a service; to search the whole journal, use "
                + "--since beginning"
        }
        return (story, notice)
    }
}

/// A story as `segue trace` prints it for people.
struct StoryText {
    let lines: [StyledText]
    /// The numbers of messages, processes and steps, and the W3C trace ids.
    let end: [StyledText]

    /// A line for each thing that happened.
    /// - Parameter columns: the width of the terminal. Nil if it is not known or does not matter.
    init(_ story: Story, columns: Int?) {
        var format = HappeningFormat()
        lines = story.happenings.flatMap { format.lines($0, columns: columns) }
        end = Self.end(of: story, TraceFormat().shortSummary(story, story.tree))
    }

    /// A line for each message, as a tree of causes.
    /// - Parameter names: the names of coordinators, which are written instead of their sources.
    init(messagesOf story: Story, _ names: CoordinatorNames) {
        let (tree, format) = (story.tree, TraceFormat())
        lines = format.lines(tree, names)
        end = Self.end(of: story, format.summary(story, tree))
    }

    private static func end(of story: Story, _ summary: String) -> [StyledText] {
        let traces = story.traces.isEmpty ? [] : ["trace \(story.traces.joined(separator: ", "))"]
        return ([summary] + traces).map { StyledText($0) }
    }
}

/// Writes a story to standard output, for a person or for a program.
actor TracePrinter {
    enum Form {
        /// A line for each thing that happened.
        case happenings
        /// A tree of all messages.
        case messages
        /// A JSON object for each message.
        case json
    }

    private let form: Form
    private let directory: CoordinatorDirectory
    private let output = Console.output
    /// The number of terminal lines of the last drawing.
    private var drawn = 0

    init(_ form: Form, directory: CoordinatorDirectory) {
        self.form = form
        self.directory = directory
    }

    /// Draws the story so far, if the output is a terminal.
    func update(_ story: Story) async throws {
        if form != .json, output.isTerminal { try await draw(story, isLast: false) }
    }

    func show(_ story: Story) async throws {
        guard form == .json else { return try await draw(story, isLast: true) }
        for node in story.tree.nodes { try await output.writeLine(JSONValue(encoding: node).description) }
    }

    /// - Parameter isLast: true for the final drawing, which may be longer than the terminal.
    private func draw(_ story: Story, isLast: Bool) async throws {
        let columns = output.columns
        let text =
            form == .happenings
            ? StoryText(story, columns: columns) : StoryText(messagesOf: story, await directory.names(with: story))
        let end = text.end.map { $0.rendered(isColored: false, columns: columns) }
        let rows = text.lines.map { $0.rendered(isColored: output.isColored, columns: columns) }
        let lines = (isLast ? rows : output.fitting(rows, above: end.count)) + end
        // This drawing replaces the previous drawing.
        let start: TerminalText = drawn == 0 ? "" : TerminalCode.up(drawn) + TerminalCode.clearBelow
        try await output.draw(start + lines.map { $0 + "\n" }.joined())
        drawn = lines.count
    }
}

extension TraceTree.Node: Encodable {
    private enum CodingKeys: CodingKey {
        case id, type, key, source, platform, time, cause, trace
        case depth, sinceCause, sinceStart, critical, causeIsMissing
    }

    /// Encodes the node and its message in one object. Times since another message are in milliseconds.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(message.id, forKey: .id)
        try container.encode(message.type, forKey: .type)
        try container.encodeIfPresent(message.key, forKey: .key)
        try container.encode(message.source, forKey: .source)
        try container.encodeIfPresent(message.platform, forKey: .platform)
        try container.encode(message.time, forKey: .time)
        try container.encodeIfPresent(message.cause, forKey: .cause)
        try container.encodeIfPresent(message.trace, forKey: .trace)
        try container.encode(depth, forKey: .depth)
        try container.encodeIfPresent(sinceCause.map { $0 / .milliseconds(1) }, forKey: .sinceCause)
        try container.encode(sinceStart / .milliseconds(1), forKey: .sinceStart)
        try container.encode(isCritical, forKey: .critical)
        try container.encode(origin == .unknown, forKey: .causeIsMissing)
    }
}
