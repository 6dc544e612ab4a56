internal import ArgumentParser
internal import FlowExploration
internal import FlowFiles
internal import FlowReview
internal import Navigation
internal import Support
internal import SystemSupport

struct FlowExploreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore", abstract: "Find what users can never reach in a flow, and where they get stuck.",
        discussion: """
            segue flow explore config/flows/ios.yaml   the sessions may have other platforms
            segue flow explore config/flows/ios.yaml config/flows/mac.yaml   one session on two platforms
            segue flow explore ios.yaml --contract contract.json   with the services' messages, and what they answer
            segue flow explore ios.yaml --alone --contract contract.json     one session on one platform

            Walks through all states to which messages can lead from the start of a session: taps on the screens in front, \
            events and errors of services, answers, deadlines, URLs, and the user's gestures. Of each field, \
            the values that the flow names are tried, and two others. Finds screens and rules that nothing leads to, rules \
            that always fail, screens that nobody can leave, and 'properties' of the flow that do not hold, with the shortest \
            story as the steps of a scenario.

            Events come at any time. With a --contract of services that are built of handlers, they come only after a \
            message whose handler sends them, once or more often. Then questions that no service answers are found, and \
            screens that nobody can leave if the event that they wait for has come before. If the session may have other \
            platforms, these get answers at any time, but an answer to another platform is not a way to leave a screen. \
            Errors come at any time.

            A command that a flow sends is assumed to arrive before the next message. The last line says what was not \
            explored: then notes are not proved. It also says which events come at any time: because of them, a screen that \
            nobody can leave may be missed. The exit status is 1 if a mistake was proved.
            """)

    @Argument(help: ArgumentHelp("The flows of one session, in YAML or JSON.", valueName: "file"))
    var files: [String]

    @Flag(help: "Explore a session that has no other platform.")
    var alone = false

    @OptionGroup var options: ExplorationOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let files = try files.map(FlowFile.init)
        let flows = try files.map { try $0.flow() }
        let readings = files.map { FlowReading(yaml: $0.text, file: $0.name) }
        let platforms = flows.map(\.platform)
        if Set(platforms).count < platforms.count {
            throw ValidationError("a session has one flow for each platform; name flows of different platforms")
        }
        var explorer = FlowExplorer(
            flows, messages: try options.messages(),
            // Those of several flows are the platforms of the session.
            hasOthers: flows.count == 1 && !alone,
            openScreens: readings.reduce(into: []) { $0.formUnion($1.openScreens) },
            limit: options.states)
        let begin = ContinuousClock.now
        let exploration = await Self.telling { explorer.explore($0) }
        let time = ContinuousClock.now - begin
        var (count, isClean) = (0, true)
        for (index, reading) in readings.enumerated() {
            for found in explorer.findings(in: index) {
                for finding in reading.unacknowledged(found.problem) {
                    count += 1
                    isClean = isClean && finding.severity == .note
                    let line = Line(finding: finding, story: found.story?.steps)
                    let note = found.story?.isExact == false ? ["# Played as a scenario, this leads elsewhere:"] : []
                    let story = (note + (found.story?.steps ?? [])).map { "\n    \($0)" }.joined()
                    try await Console.output.writeLine(line, asJSON: output.json, text: finding.description + story)
                }
            }
        }
        let summary = Summary(exploration, time: time)
        try await Console.output.writeLine(
            summary, asJSON: output.json, text: Self.summary(of: exploration, findings: count))
        if Console.error.isTerminal { await Console.error.tell(summary.effort) }
        if !isClean { throw ExitCode.failure }
    }

    /// Tells the number of states on a terminal, each second, while `body` runs.
    private static func telling(_ body: ((Int) -> Void) -> Exploration) async -> Exploration {
        guard Console.error.isTerminal else { return body { _ in } }
        let (counts, progress) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        async let told: Void = {
            for await count in counts { await Console.error.tell("\(count) states so far") }
        }()
        var last = ContinuousClock.now
        let exploration = body { count in
            guard .now - last >= .seconds(1) else { return }
            last = .now
            progress.yield(count)
        }
        progress.finish()
        await told
        return exploration
    }

    /// A finding for programs.
    private struct Line: Encodable {
        let finding: FlowFinding
        /// The steps of a scenario that shows the mistake.
        let story: [String]?
    }

    private struct Summary: Encodable {
        let states: Int
        let transitions: Int
        /// The number of messages that were tried in the states.
        let messages: Int
        /// True if all states were explored.
        let isWhole: Bool
        /// What was not explored.
        let limits: [String]
        /// The types of the events that come only as answers of services. Others come at any time.
        let answers: [String]
        let seconds: Double
        /// The greatest memory of the process, in bytes.
        let memory: Int

        init(_ exploration: Exploration, time: Duration) {
            seconds = time / .seconds(1)
            memory = ProcessMemory.peak
            (states, transitions) = (exploration.stateCount, exploration.transitionCount)
            messages = exploration.messageCount
            isWhole = exploration.isWhole
            limits = ExplorationLimit.lines(of: exploration.limits)
            answers = if case .answers(let types, free: _) = exploration.events { types } else { [] }
        }

        /// The time and the memory, for people.
        var effort: String {
            "\((seconds * 10).rounded() / 10) s, \(Int(Double(messages) / max(seconds, 0.001))) messages/s, \(memory >> 20) MiB"
        }
    }

    private static func summary(of exploration: Exploration, findings: Int) -> String {
        let found = findings == 0 ? "no findings" : findings == 1 ? "1 finding" : "\(findings) findings"
        let counts =
            "\(exploration.stateCount) states and \(exploration.transitionCount) transitions "
            + "(\(exploration.messageCount) messages)"
        let limits = ExplorationLimit.lines(of: exploration.limits)
        let events = exploration.events == .none ? "" : "; \(exploration.events)"
        return "\(found) in \(counts)"
            + (limits.isEmpty ? ": all there are" : "; not proved: \(limits.joined(separator: "; "))") + events
    }
}
