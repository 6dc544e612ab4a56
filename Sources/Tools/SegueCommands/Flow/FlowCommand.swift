package import ArgumentParser

package struct FlowCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "flow", abstract: "Checks, draws, plays and writes flows: how an app leads from screen to screen.",
        discussion: """
            segue flow check config/flows/*.yaml             what is wrong, and where
            segue flow graph config/flows/ios.yaml > ios.svg a picture of it
            segue flow run config/flows/ios.yaml story.yaml  plays a scenario: its test
            segue flow run ios.yaml --recording story.jsonl  plays what 'segue record' wrote
            swift run my-flow | segue flow export -          what a program built, as YAML

            None of these needs a bus. docs/flows.md explains flows and scenarios.
            """,
        subcommands: [FlowCheckCommand.self, FlowGraphCommand.self, FlowRunCommand.self, FlowExportCommand.self])

    package init() {}
}
