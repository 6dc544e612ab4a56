package import ArgumentParser
internal import Foundation

package struct ContractExportCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
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

    package init() {}

    package func run() async throws {
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
