package import ArgumentParser
internal import FlowFiles
internal import Navigation

package struct FlowExportCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes a flow as YAML, in the form in which the documents explain it.",
        discussion: """
            segue flow export flow.json > flow.yaml
            swift run my-flow | segue flow export -     my-flow ends with print(flow.json)

            Comments do not belong to the flow, and are not kept.
            """)

    @Argument(help: FlowFile.help)
    var file: String

    package init() {}

    package func run() async throws {
        try await Console.output.write(try FlowFile(file).flow().yaml)
    }
}
