internal import ArgumentParser
internal import EventBus
internal import FlowReview
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

struct FlowRunCommand: AsyncParsableCommand, WallTimeCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Test a flow with a scenario or a recording, without a bus.",
        discussion: """
            segue flow run config/flows/ios.yaml story.yaml
            segue flow run config/flows/ios.yaml --recording story.jsonl
            segue flow run ios.yaml --recording story.jsonl --until 17 --json

            A scenario is a list of steps:

              - send: event.LaunchFinished
                expect: { root: serviceSelection, leaving: launch, dismissed: launch }
              - send: { type: event.DeviceFound, data: { name: kitchen } }
              - back          the user goes back; other actions are 'dismiss' and 'answer: BUTTON'
              - gone          the view has finished the animation of a screen that leaves

            Each step is printed with the changes of the state. A step whose 'expect' differs \
            from these changes fails, and a line FILE:LINE:COLUMN describes the difference.

            A recording is a file that 'segue record' has written. A step fails if \
            a message leads to another state than the recorded one.

            The exit status is 1 if a step fails.
            """)

    @Argument(help: FlowFile.help)
    var flow: String

    @Argument(help: "The scenario, in YAML; '-' reads it from standard input.")
    var scenario: String?

    @Option(
        help: ArgumentHelp(
            "A recording, instead of the scenario; '-' reads it from standard input.", valueName: "file"))
    var recording: String?

    @Option(name: .session, help: ArgumentHelp("The session of the recording.", valueName: "session"))
    var session = Session.default

    @Option(
        help: ArgumentHelp(
            "Print only the state at this moment of the recording: \(RecordingMoment.forms).", valueName: "moment"),
        transform: RecordingMoment.argument)
    var until: RecordingMoment?

    @OptionGroup var zone: ZoneOptions

    @Flag(help: "Continue after a step that fails.")
    var keepGoing = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (scenario == nil) != (recording == nil) else {
            throw ValidationError("name either a scenario, or a recording with --recording")
        }
        guard flow != "-" || scenario != "-" && recording != "-" else {
            throw ValidationError("only one of the two files can be standard input; write '-' only once")
        }
        guard recording != nil || until == nil && session == Session.default else {
            throw ValidationError("--until and --session require --recording")
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

    /// - Returns: true if a step fails.
    private func play(_ file: FlowFile, on flow: Flow) async throws -> Bool {
        let scenario = try Scenario(yaml: file.text, file: file.name, flow: flow)
        var fails = false
        for outcome in scenario.play(on: flow, keepsGoing: keepGoing) {
            try await show(outcome, of: file.name)
            fails = fails || !outcome.failures.isEmpty
        }
        return fails
    }

    /// - Returns: true if a step fails.
    private func play(_ recording: Recording, on flow: Flow) async throws -> Bool {
        let recorded = try await RecordedSession(recording, flow: flow, session: session)
        if !recorded.hasStates {
            await Console.error.tell(
                "\(recording.name) has no states of the platform \(flow.platform); no states are compared")
        }
        var fails = false
        let machine = try await recorded.play(until: until) { outcome in
            fails = fails || !outcome.failures.isEmpty
            if until == nil {
                try await show(outcome, of: recording.name)
            } else {
                await Console.error.tell(outcome.failures.flatMap { $0.lines(in: recording.name) })
            }
            return keepGoing || !fails || until != nil
        }
        if until != nil { try await DataPrinter(json: output.json).show(JSONWriter.data(of: machine.snapshot)) }
        return fails
    }

    private func show(_ outcome: Scenario.Outcome, of file: String) async throws {
        for line in output.json ? [outcome.json.description] : outcome.lines(in: file) {
            try await Console.output.writeLine(line)
        }
    }
}
