package import ArgumentParser
internal import Navigation

package struct FlowRunCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Plays a scenario on a flow, without a bus: the test of a flow.",
        discussion: """
            segue flow run config/flows/ios.yaml story.yaml

            A scenario is a list of what happens:

              - send: event.LaunchFinished
                expect: { root: serviceSelection, leaving: launch, dismissed: launch }
              - send: { type: event.DeviceFound, data: { name: kitchen } }
              - back          the user goes back; also dismiss, answer: BUTTON
              - gone          the view has animated out what was leaving

            Each step is printed with what has changed. Where something is
            expected, it must be all that happens: else the status is 1, and a
            line FILE:LINE:COLUMN says what differs.
            """)

    @Argument(help: FlowFile.help)
    var flow: String

    @Argument(help: "The scenario, YAML; - reads it from standard input.")
    var scenario: String

    @Flag(help: "Go on after a step that fails.")
    var keepGoing = false

    @Flag(help: "One JSON object a step.")
    var json = false

    package init() {}

    package func validate() throws {
        guard flow != "-" || scenario != "-" else { throw ValidationError("only one of them can be standard input") }
    }

    package func run() async throws {
        let flow = try FlowFile(flow).flow()
        let file = try FlowFile(scenario)
        let scenario = try Scenario(yaml: file.text, file: file.name, flow: flow)
        var fails = false
        for outcome in scenario.play(on: flow, keepsGoing: keepGoing) {
            try await Console.output.writeLine(json ? outcome.json.description : outcome.description)
            fails = fails || !outcome.failures.isEmpty
            for line in json ? [] : outcome.failures.flatMap({ $0.lines(in: file.name) }) {
                try await Console.output.writeLine(line)
            }
        }
        if fails { throw ExitCode.failure }
    }
}
