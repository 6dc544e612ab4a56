package import ArgumentParser
internal import FlowFiles
internal import Foundation
internal import Navigation

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

struct FlowExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes a flow as YAML, in the form in which the documents explain it.",
        discussion: """
            segue flow export flow.json > flow.yaml
            swift run my-flow | segue flow export -     my-flow ends with print(flow.json)

            Comments do not belong to the flow, and are not kept.
            """)

    @Argument(help: FlowFile.help)
    var file: String

    func run() async throws {
        try await Console.output.write(try FlowFile(file).flow().yaml)
    }
}

/// A file that says something of a flow.
struct FlowFile {
    static let help = ArgumentHelp("The flow, YAML or JSON; - reads it from standard input.", valueName: "file")

    /// As findings call it.
    let name: String
    let text: String

    /// Reads a file, or for `-` standard input to its end.
    /// - Throws: ``CommandError`` when that cannot be done.
    init(_ path: String) throws {
        guard path != "-" else {
            (name, text) = ("standard input", try StandardInput.text())
            return
        }
        name = path
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            let isThere = FileManager.default.fileExists(atPath: path)
            throw CommandError(
                code: "unreadable-file", isThere ? "\(path) cannot be read as UTF-8" : "there is no file \(path)",
                recovery: "name one such as config/flows/ios.yaml", status: .noInput)
        }
    }

    /// - Throws: `FlowError` with all that is wrong.
    func flow() throws -> Flow { try Flow(yaml: text, file: name) }
}
