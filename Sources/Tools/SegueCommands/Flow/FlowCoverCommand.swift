internal import ArgumentParser
internal import EventBus
internal import FlowExploration
internal import FlowFiles
internal import FlowReview
internal import Monitor
internal import Navigation
internal import SignIn
internal import Support

struct FlowCoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cover", abstract: "Find the rules of a flow that no test takes.",
        discussion: """
            segue flow cover shop.yaml tests/*.yaml                     the rules that no scenario takes
            segue flow cover shop.yaml --recording today.jsonl          those that no user took
            segue flow cover shop.yaml tests/*.yaml --least 90
            segue flow cover shop.yaml tests/*.yaml --live              draws them faintly on the page of a running stack

            Prints a line for each rule, link, and list of actions of a guard that is never taken. The exit status is 1 if \
            a step of a scenario fails, or if less than --least percent are taken.

            With --live, the page of the bus opens in a browser, as with 'segue open'. Its map draws what is not taken \
            faintly, if the bus has the same version of the flow.
            """)

    @Argument(help: FlowFile.help)
    var flow: String

    @Argument(help: ArgumentHelp("The scenarios, in YAML.", valueName: "scenario"))
    var scenarios: [String] = []

    @Option(help: ArgumentHelp("A recording that 'segue record' has written.", valueName: "file"))
    var recording: [String] = []

    @Option(name: .session, help: ArgumentHelp("The session of the recordings.", valueName: "session"))
    var session = Session.default

    @Option(help: ArgumentHelp("The least share of rules that must be taken.", valueName: "percent"))
    var least = 0

    @Flag(help: "Show what is not taken on the page of a running stack.")
    var live = false

    @OptionGroup var bus: BusOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if scenarios.isEmpty, recording.isEmpty { throw ValidationError("name a scenario or a --recording") }
        guard (0...100).contains(least) else { throw ValidationError("--least must be from 0 to 100") }
        if live, output.json { throw ValidationError("--live and --json exclude each other") }
        if !live, bus.isGiven { throw ValidationError("--bus and -p need --live: scenarios are played without a bus") }
    }

    func run() async throws {
        let file = try FlowFile(flow)
        let flow = try file.flow().tellingRules
        var cover = RuleCover(of: flow)
        var fails = false
        func add(_ outcome: Scenario.Outcome, of name: String) async throws {
            // A rule whose actions failed was not taken.
            if outcome.changes[.failed] == nil { cover.add(applied: outcome.applied) }
            guard !outcome.failures.isEmpty else { return }
            fails = true
            await Console.error.tell(outcome.failures.flatMap { $0.lines(in: name) })
        }
        for path in scenarios {
            let scenario = try FlowFile(path)
            let steps = try Scenario(yaml: scenario.text, file: scenario.name, flow: flow)
            for outcome in steps.play(on: flow, keepsGoing: true) { try await add(outcome, of: scenario.name) }
        }
        for path in recording {
            let recording = try await Recording(argument: path)
            let recorded = try await RecordedSession(recording, flow: flow, session: session)
            _ = try await recorded.play { outcome in
                try await add(outcome, of: recording.name)
                return true
            }
        }
        var reading = FlowReading(yaml: file.text, file: file.name)
        reading.report(
            cover.missing.map { FlowChecker.Problem(keyPath: $0, message: "this is never taken", severity: .note) })
        for finding in reading.findings {
            try await Console.output.writeLine(finding, asJSON: output.json, text: finding.description)
        }
        let total = Total(taken: cover.places.count - cover.missing.count, places: cover.places.count)
        try await Console.output.writeLine(
            total, asJSON: output.json,
            text: "\(total.taken) of \(total.places) rules, links and answers are taken, \(cover.percent) %")
        if live {
            let view = try view(of: cover, flow)
            try await RunningPage(of: bus.runningProject()).show(view)
        }
        if fails || cover.percent < least { throw ExitCode.failure }
    }

    /// The map with the places that are not taken.
    private func view(of cover: RuleCover, _ flow: Flow) throws(CommandError) -> String {
        let places = cover.missing.map { place in
            // Commas separate the places. The name of a child flow may contain some.
            PercentEncoding.encode(
                place.replacingScalars { [",", "%"].contains($0) ? PercentEncoding.encode("\($0)") : nil })
        }
        let view = "map?untaken=" + ([flow.hash] + places).joined(separator: ",")
        guard view.utf8.count <= PageFolder.viewLimit else {
            throw CommandError(
                code: "too-many-rules",
                "\(places.count) places that are not taken are too many for the address of the map",
                recovery: "omit --live, or add scenarios; 'segue flow tests' writes some")
        }
        return view
    }

    private struct Total: Encodable {
        let taken: Int
        let places: Int
    }
}
