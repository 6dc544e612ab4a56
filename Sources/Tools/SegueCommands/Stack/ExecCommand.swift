package import ArgumentParser
internal import Compose

package struct ExecCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Run a command with the variables and in the folder of a running service.",
        discussion: """
            segue exec api env
            segue exec api -- psql -c 'select 1'

            The command has this terminal. It continues to run if the service ends.

            The exit status is that of the command, or 1 if the service does not run.
            """)

    @OptionGroup var stack: StackOptions

    @Argument(help: "The service, or one of its instances.", completion: .services)
    var service: String

    @Argument(parsing: .captureForPassthrough, help: "The command and its arguments.")
    var command: [String] = []

    package init() {}

    package func validate() throws {
        guard !words.isEmpty else { throw ValidationError("name the command to run after the service") }
    }

    /// The command without the `--` before it.
    private var words: [String] { command.first == "--" ? Array(command.dropFirst()) : command }

    package func run() async throws {
        let project = try stack.resolve()
        guard let status = try ProjectStatus.read(project) else { throw CommandError.neverStarted(project) }
        let instances = try status.instances(named: [service], of: project)
        guard let context = instances.lazy.compactMap(ServiceEnvironment.init).first else {
            throw CommandError(
                code: "not-running", "service '\(service)' does not run", recovery: "start it with 'segue up -d'")
        }
        try context.execute(words)
    }
}

/// Refuses the verb `run`, and names the verbs to use instead.
package struct RunCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(commandName: "run", shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough)
    var arguments: [String] = []

    package init() {}

    package func validate() throws {
        throw ValidationError(
            "'run' is not supported; run 'segue exec SERVICE COMMAND', or 'segue up -d --wait SERVICE' for a service "
                + "with a profile")
    }
}
