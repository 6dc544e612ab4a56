internal import ArgumentParser
// check-lines: the file of a journal is read without a broker.
internal import Broker
internal import EventBus
internal import FlowExploration
internal import FlowFiles
internal import Monitor
internal import Navigation
internal import Support

struct FlowReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Find what the next version of a flow would break for people who use the app.",
        discussion: """
            segue flow release ios.yaml next.yaml -p shop                  what people did on a bus
            segue flow release ios.yaml next.yaml --journal journal.sqlite what a broker has stored, running or not
            segue flow release ios.yaml next.yaml --recording today.jsonl  what 'segue record' has written

            Replays all recorded sessions of the flow's platform to both versions. A story, which is what a user does and \
            what services do because of it, is reported if it ends on other screens, or if other commands are sent or \
            other URLs are opened. Then restores each open session from its last state, as a coordinator of the next \
            version would, and reports the screens and waiting messages that are lost. Rules of the next version that no \
            story takes are notes.

            Both versions receive the recorded messages: what services would have answered to other commands is not known. \
            The exit status is 1 if something breaks.
            """)

    @Argument(help: ArgumentHelp("The version that was used, in YAML or JSON.", valueName: "old"))
    var old: String

    @Argument(help: ArgumentHelp("The next version.", valueName: "new"))
    var new: String

    @Option(
        help: ArgumentHelp("The file in which a broker stores its messages.", valueName: "file"),
        completion: .file(extensions: ["sqlite"]))
    var journal: String?

    @Option(help: ArgumentHelp("A recording; '-' reads it from standard input.", valueName: "file"))
    var recording: String?

    @OptionGroup var bus: BusOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if [journal != nil, recording != nil, bus.isGiven].count(where: { $0 }) > 1 {
            throw ValidationError("name one source: --journal, --recording, or a bus")
        }
    }

    func run() async throws {
        let file = try FlowFile(new)
        let (former, next) = (try FlowFile(old).flow(), try file.flow())
        guard former.platform == next.platform else {
            throw ValidationError(
                "\(old) is for '\(former.platform)' and \(new) for '\(next.platform)'; name two versions of one flow")
        }
        let replay = ReleaseReplay(from: former, to: next)
        let damageCount = try await read(into: replay)
        let report = await replay.end()
        try await show(report, of: file, damageCount: damageCount)
        if !report.isClean { throw ExitCode.failure }
    }

    /// - Returns: The number of messages that could not be read.
    private func read(into replay: ReleaseReplay) async throws -> Int {
        if let journal {
            do {
                return try await JournalReader(path: journal).read { await replay.add($0) }
            } catch let error as BusError where error.code == .journal {
                throw CommandError(code: "unreadable-journal", error.message, status: .noInput)
            }
        }
        if let recording {
            try await Recording(argument: recording).readMessages { recorded in
                await replay.add([recorded.message])
                return false
            }
            return 0
        }
        try await bus.withBus { bus in
            try await Monitor(bus: bus, start: .beginning, end: .end).run { await replay.add([$0]) }
        }
        return 0
    }

    private func show(_ report: ReleaseReport, of file: FlowFile, damageCount: Int) async throws {
        for line in report.lines {
            try await Console.output.writeLine(line, asJSON: output.json, text: line.description)
        }
        var reading = FlowReading(yaml: file.text, file: file.name)
        reading.report(
            report.cover.missing.map {
                FlowChecker.Problem(keyPath: $0, message: "no recorded story takes this", severity: .note)
            })
        for finding in reading.findings {
            try await Console.output.writeLine(finding, asJSON: output.json, text: finding.description)
        }
        try await Console.output.writeLine(Total(report), asJSON: output.json, text: Total(report).description)
        if damageCount > 0 { await Console.error.tell("\(damageCount) messages could not be read") }
    }

    private struct Total: Encodable, CustomStringConvertible {
        let sessions: Int
        let openSessions: Int
        /// The number of open sessions that another version than the old one has left.
        let otherVersions: Int
        let stories: Int
        let messages: Int
        /// The number of kinds of changes, and of losses.
        let breaks: Int
        /// False if there are more of them than are told.
        let isWhole: Bool

        init(_ report: ReleaseReport) {
            (sessions, openSessions) = (report.sessionCount, report.livingCount)
            otherVersions = report.otherVersionCount
            (stories, messages) = (report.storyCount, report.messageCount)
            breaks = report.changes.count + report.losses.count
            isWhole = !report.isCut
        }

        var description: String {
            func count(_ number: Int, _ one: String, _ many: String) -> String {
                "\(number) \(number == 1 ? one : many)"
            }
            let found = breaks == 0 ? "nothing breaks" : count(breaks, "change breaks", "changes break") + " something"
            let others = otherVersions == 0 ? "" : ", \(otherVersions) with another version than the old one"
            return "\(found)\(isWhole ? "" : ", and more are not told"): \(count(sessions, "session", "sessions")) "
                + "(\(openSessions) of them open\(others)) with \(count(stories, "story", "stories")) and "
                + count(messages, "message", "messages")
        }
    }
}
