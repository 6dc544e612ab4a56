internal import ArgumentParser
internal import EventBus
internal import FlowReview
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

struct FlowRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Plays a scenario or a recording on a flow, without a bus: the test of a flow.",
        discussion: """
            segue flow run config/flows/ios.yaml story.yaml
            segue flow run config/flows/ios.yaml --recording story.jsonl
            segue flow run config/flows/ios.yaml --recording story.jsonl --until 17 --json

            A scenario is a list of what happens:

              - send: event.LaunchFinished
                expect: { root: serviceSelection, leaving: launch, dismissed: launch }
              - send: { type: event.DeviceFound, data: { name: kitchen } }
              - back          the user goes back; also dismiss, answer: BUTTON
              - gone          the view has animated out what was leaving

            Each step is printed with what has changed. Where something is
            expected, it must be all that happens: else the status is 1, and a
            line FILE:LINE:COLUMN says what differs.

            A recording is what 'segue record' writes. Of each message that the
            flow hears it is expected to lead to the state that was recorded.
            """)

    @Argument(help: FlowFile.help)
    var flow: String

    @Argument(help: "The scenario, YAML; - reads it from standard input.")
    var scenario: String?

    @Option(help: ArgumentHelp("The recording to play instead; - reads it from standard input.", valueName: "file"))
    var recording: String?

    @Option(help: "The session of the recording.")
    var subject = Session.default

    @Option(
        help: ArgumentHelp(
            "Show where the recording has led to by this moment: \(RecordingMoment.forms).", valueName: "moment"),
        transform: RecordingMoment.argument)
    var until: RecordingMoment?

    @Flag(help: "Go on after a step that fails.")
    var keepGoing = false

    @Flag(help: "One JSON object a step.")
    var json = false

    func validate() throws {
        guard (scenario == nil) != (recording == nil) else {
            throw ValidationError("name either a scenario or, with --recording, a recording")
        }
        guard flow != "-" || scenario != "-" && recording != "-" else {
            throw ValidationError("only one of them can be standard input")
        }
        guard recording != nil || until == nil && subject == Session.default else {
            throw ValidationError("--until and --subject go with --recording")
        }
    }

    func run() async throws {
        let flow = try FlowFile(flow).flow()
        let fails =
            if let recording {
                try await play(Recording(argument: recording), on: flow)
            } else {
                try await play(FlowFile(scenario ?? "-"), on: flow)
            }
        if fails { throw ExitCode.failure }
    }

    /// - Returns: whether it fails.
    private func play(_ file: FlowFile, on flow: Flow) async throws -> Bool {
        let scenario = try Scenario(yaml: file.text, file: file.name, flow: flow)
        var fails = false
        for outcome in scenario.play(on: flow, keepsGoing: keepGoing) {
            try await show(outcome, of: file.name)
            fails = fails || !outcome.failures.isEmpty
        }
        return fails
    }

    /// - Returns: whether it fails.
    private func play(_ recording: Recording, on flow: Flow) async throws -> Bool {
        let session = try await RecordedSession(recording, flow: flow, session: subject)
        if !session.hasStates {
            await Console.error.tell("\(recording.name) has no states of \(flow.platform) to compare with")
        }
        var fails = false
        let machine = try await session.play(until: until) { outcome in
            fails = fails || !outcome.failures.isEmpty
            if until == nil {
                try await show(outcome, of: recording.name)
            } else {
                await Console.error.tell(outcome.failures.flatMap { $0.lines(in: recording.name) })
            }
            return keepGoing || !fails || until != nil
        }
        if until != nil { try await DataPrinter(json: json).show(JSONEncoder.wire.encode(machine.snapshot)) }
        return fails
    }

    private func show(_ outcome: Scenario.Outcome, of file: String) async throws {
        try await Console.output.writeLine(json ? outcome.json.description : outcome.description)
        for line in json ? [] : outcome.failures.flatMap({ $0.lines(in: file) }) {
            try await Console.output.writeLine(line)
        }
    }
}
