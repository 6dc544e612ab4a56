package import ArgumentParser
internal import Compose

package struct DownCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "down", abstract: "Stops a project's services, and what a killed supervisor may have left.")

    @OptionGroup var files: ComposeFileOptions
    @OptionGroup var project: ProjectOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("How long all may take; what is left then is killed.", valueName: "seconds"))
    var timeout = 60

    package init() {}

    package func validate() throws {
        guard (0...86_400).contains(timeout) else { throw ValidationError("-t is \(timeout); it has to be 0 to 86400") }
    }

    package func run() async throws {
        let project = try project.resolve(files: files.files)
        let wasRunning = try await project.stop(timeout: .seconds(timeout))
        await Console.error.tell("project '\(project.name)' \(wasRunning ? "is down" : "was not running")")
    }
}
