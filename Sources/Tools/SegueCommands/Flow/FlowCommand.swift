package import ArgumentParser
internal import Compose
internal import FlowFiles
internal import Foundation
internal import Navigation
internal import Support

package struct FlowCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "flow", abstract: "Check, draw, test and convert flows, the rules for the screens of an app.",
        discussion: """
            segue flow check config/flows/*.yaml             checks flows for errors
            segue flow explore config/flows/ios.yaml         finds what users can never reach
            segue flow diff old.yaml new.yaml                tells what changes for users
            segue flow release old.yaml new.yaml -p shop     finds what would break for users
            segue flow graph config/flows/ios.yaml > ios.svg draws a flow
            segue flow run config/flows/ios.yaml story.yaml  tests a flow with a scenario
            segue flow run ios.yaml --recording story.jsonl  tests it with a recording
            segue flow cover ios.yaml tests/*.yaml           finds the rules that no test takes
            segue flow tests ios.yaml tests                  writes tests that take every rule
            swift run my-flow | segue flow export -          converts a flow to YAML
            segue flow migrate ios.yaml                      replaces old forms of the language

            Only 'release' may need a bus. docs/flows.md explains flows and scenarios, docs/flow-keys.md all their keys.
            """,
        subcommands: [
            FlowCheckCommand.self, FlowExploreCommand.self, FlowDiffCommand.self, FlowGraphCommand.self,
            FlowReleaseCommand.self, FlowRunCommand.self, FlowCoverCommand.self, FlowTestsCommand.self,
            FlowExportCommand.self, FlowMigrateCommand.self,
        ])

    package init() {}
}

struct FlowExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Convert a flow to YAML.",
        discussion: """
            segue flow export flow.json > flow.yaml
            swift run my-flow | segue flow export -     my-flow ends with print(flow.json)

            Comments are not kept.
            """)

    @Argument(help: FlowFile.help)
    var file: String

    func run() async throws {
        try await Console.output.write(try FlowFile(file).flow().yaml)
    }
}

/// A flow or a scenario in a file or on standard input.
struct FlowFile {
    static let help = ArgumentHelp("The flow, in YAML or JSON; '-' reads it from standard input.", valueName: "file")

    /// The name of the file in findings.
    let name: String
    let text: String

    /// Reads a file; for `-`, standard input to its end.
    /// - Throws: ``CommandError`` if the file or standard input cannot be read.
    init(_ path: String) throws {
        guard path != "-" else {
            (name, text) = ("standard input", try StandardInput.text())
            return
        }
        name = path
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            var isFolder: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            let reason =
                isFolder.boolValue
                ? "\(path) is a folder" : isThere ? "\(path) cannot be read as UTF-8" : "there is no file \(path)"
            throw CommandError(
                code: "unreadable-file", reason,
                recovery: "name a file such as \(isFolder.boolValue ? "\(path)/*.yaml" : "config/flows/ios.yaml")",
                status: .noInput)
        }
    }

    /// The flows that the services of a compose file name with `--flow`, each once. A path in the working directory is
    /// relative to it.
    /// - Throws: ``CommandError`` if there are none.
    static func paths(in stack: Stack) throws(CommandError) -> [String] {
        let here = FileManager.default.currentDirectoryPath + "/"
        var paths: [String] = []
        for service in stack.services {
            let words = service.command
            let named =
                zip(words, words.dropFirst()).filter { $0.0 == "--flow" }.map(\.1)
                + words.compactMap { $0.removing(prefix: "--flow=").map(String.init) }
            for path in named {
                let absolute = service.absolutePath(of: path, in: stack.directory)
                let path = absolute.removing(prefix: here).map(String.init) ?? absolute
                if !paths.contains(path) { paths.append(path) }
            }
        }
        guard !paths.isEmpty else {
            throw CommandError(
                code: "no-flow", "no service of the compose file names a flow with --flow", recovery: "name the flows",
                status: .configuration)
        }
        return paths
    }

    /// - Throws: `FlowError` with all errors of the flow.
    func flow() throws -> Flow { try Flow(yaml: text, file: name) }
}
