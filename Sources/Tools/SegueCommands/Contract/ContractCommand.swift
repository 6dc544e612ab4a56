internal import AppContract
package import ArgumentParser
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

package struct ContractCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "contract",
        abstract: "Writes down what an app's services receive and send, and says what a change of that breaks.",
        discussion: """
            segue contract export -o config/contract.json    asks each service of the compose file
            segue contract export -p segue                   what runs now, by the bus of that project
            segue contract check config/contract.json        what the services of today break
            segue contract check old.json new.json -v        two files; also what breaks nothing

            A contract is an AsyncAPI 3.0 document. docs/contracts.md tells more.
            """,
        subcommands: [ContractExportCommand.self, ContractCheckCommand.self])

    package init() {}
}

struct ContractExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes what the services receive and send, as an AsyncAPI 3.0 document.",
        discussion: """
            segue contract export -o config/contract.json           the services and x-clients of the compose file
            segue contract export --with 'device --platform mac'    with one more program that people start
            segue contract export --bus ipc:///run/segue            who is on that bus

            Each service is started with --contract, without a bus, and only has to
            print. One that cannot is labelled 'segue.contract: none'.
            """)

    @OptionGroup var origin: ContractOrigin

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where to write it, instead of to standard output.", valueName: "file"))
    var output: String?

    func run() async throws {
        let text = try ContractFile.text(of: try await origin.read())
        guard let output else { return try await Console.output.write(text) }
        do {
            try text.write(toFile: output, atomically: true, encoding: .utf8)
        } catch let error as CocoaError {
            throw CommandError(
                code: "unwritable-file", "\(output) cannot be written: \(error.reason)",
                recovery: "name a file in a folder that is there", status: .ioError)
        }
    }
}

struct ContractCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Says what a change of the services breaks, for those who keep to the old contract.",
        discussion: """
            segue contract check config/contract.json              the compose file's services, as they are now
            segue contract check config/contract.json new.json -v  two files; also what breaks nothing
            segue contract check config/contract.json -p segue     what runs now
            git show main:contract.json | segue contract check -   what has changed since

            What is received must suit those who sent it before, and what is sent
            must suit those who received it. Each finding is a line, and the status
            is 1 when something breaks.
            """)

    @Argument(help: ArgumentHelp("The contract that others keep to; - reads it from standard input.", valueName: "old"))
    var old: String

    @Argument(help: ArgumentHelp("The new one. Without it, the services are asked.", valueName: "new"))
    var new: String?

    @OptionGroup var origin: ContractOrigin

    @Flag(name: .shortAndLong, help: "Also what has changed and breaks nothing.")
    var verbose = false

    @Flag(help: "One JSON object a finding.")
    var json = false

    func run() async throws {
        let former = try ContractFile.read(old)
        let present = if let new { try ContractFile.read(new) } else { try await origin.read() }
        let findings = ContractComparison(from: former, to: present).findings
        for finding in findings where finding.isBreaking || verbose {
            try await Console.output.writeLine(json ? JSONValue(encoding: Row(finding)).description : text(finding))
        }
        if findings.contains(where: \.isBreaking) { throw ExitCode.failure }
    }

    private func text(_ finding: ContractFinding) -> String {
        (finding.isBreaking ? finding.description : "note: \(finding)").printable
    }

    private struct Row: Encodable {
        let type: String
        let path: String?
        let breaking: Bool
        let message: String

        init(_ finding: ContractFinding) {
            type = finding.type.description
            path = finding.path
            breaking = finding.isBreaking
            message = finding.message
        }
    }
}
