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
        abstract: "Export and check contracts: the messages that an app's services receive and send.",
        discussion: """
            segue contract export -o config/contract.json  asks the services
            segue contract export -p segue                 asks a running project
            segue contract check config/contract.json      checks the services
            segue contract check old.json new.json -v      compares two contracts

            A contract is an AsyncAPI 3.0 document. docs/contracts.md explains contracts.
            """,
        subcommands: [ContractExportCommand.self, ContractCheckCommand.self])

    package init() {}
}

struct ContractExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the messages of the services as an AsyncAPI 3.0 document.",
        discussion: """
            segue contract export -o config/contract.json         asks the services
            segue contract export --with 'device --platform mac'  also asks this program
            segue contract export --bus ipc:///run/segue          asks running processes

            Asks the services and x-clients of the compose file, or reads the contracts on a bus. Each service of the \
            compose file is started with --contract and without a bus, prints its contract and ends. Add the label \
            'segue.contract: none' to a service that does not support --contract.

            The exit status is 1 if a service does not print its contract.
            """)

    @OptionGroup var origin: ContractOrigin

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file to write. (default: standard output)", valueName: "file"))
    var output: String?

    func run() async throws {
        let text = try ContractFile.text(of: try await origin.read())
        guard let output else { return try await Console.output.write(text) }
        do {
            // check-lines: a contract is a file of the source code.
            try text.write(toFile: output, atomically: true, encoding: .utf8)
        } catch let error as CocoaError {
            throw CommandError(
                code: "unwritable-file", "\(output) cannot be written: \(error.reason)",
                recovery: "name a file in an existing folder that you may write to", status: .ioError)
        }
    }
}

struct ContractCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check that services which use an old contract still work with the new one.",
        discussion: """
            segue contract check config/contract.json              against the services
            segue contract check config/contract.json new.json -v  against another file
            segue contract check config/contract.json -p segue     against a project
            git show main:contract.json | segue contract check -   the contract of main

            Services must still accept every message that senders with the old contract send, and every message that \
            services send must suit receivers with the old contract. Each finding is one line. The exit status is 1 \
            if a change is incompatible.
            """)

    @Argument(help: ArgumentHelp("The old contract; '-' reads it from standard input.", valueName: "old"))
    var old: String

    @Argument(help: ArgumentHelp("The new contract. (default: the services are asked)", valueName: "new"))
    var new: String?

    @OptionGroup var origin: ContractOrigin

    @Flag(name: .shortAndLong, help: "Print compatible changes, too.")
    var verbose = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let former = try ContractFile.read(old)
        let present = if let new { try ContractFile.read(new) } else { try await origin.read() }
        let findings = ContractComparison(from: former, to: present).findings
        for finding in findings where finding.isBreaking || verbose {
            try await Console.output.writeLine(finding, asJSON: output.json, text: text(finding))
        }
        if findings.contains(where: \.isBreaking) { throw ExitCode.failure }
    }

    private func text(_ finding: ContractFinding) -> String {
        (finding.isBreaking ? finding.description : "note: \(finding)").printable
    }
}
