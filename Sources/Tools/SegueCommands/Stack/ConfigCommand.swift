package import ArgumentParser
internal import Compose
internal import Yams

package struct ConfigCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Checks a compose file, and prints what it comes to.")

    @OptionGroup var files: ComposeFileOptions

    @Flag(name: .shortAndLong, help: "Only check it.")
    var quiet = false

    @Flag(help: "Print the names of the services, each on a line.")
    var services = false

    @Flag(help: "Print JSON, on one line.")
    var json = false

    package init() {}

    package func run() async throws {
        let file = try await files.read()
        if quiet { return }
        if services {
            for service in file.stack.services { try await Console.output.writeLine(service.name) }
        } else {
            try await Console.output.write(json ? JSONLine.text(file.stack) + "\n" : YAMLEncoder().encode(file.stack))
        }
    }
}
