package import ArgumentParser
internal import Compose
internal import Support

package struct StartCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Start services that were stopped or have ended, and their dependencies.",
        discussion: """
            segue start          starts all services
            segue start web      starts one service, and its dependencies

            Returns when the services are ready.

            The exit status is 1 if the project was never started, or a service fails.
            """)

    @OptionGroup var stack: StackOptions

    @Argument(help: "The services to start. (default: all)", completion: .services)
    var services: [String] = []

    package init() {}

    package func run() async throws {
        let project = try stack.resolve()
        try await StackControl(project: project).perform(.start(services: services)) {
            try await DetachedStack(
                project: project, stack: stack.savedStack(of: project), selection: Selection(services)
            )
            .start(until: .ready)
        }
    }
}

package struct StopCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stop services, until 'start', 'restart' or 'up' starts them again.",
        discussion: """
            segue stop web
            segue stop web api -t 5

            A service stops before the services that it depends on. All other services of the project keep running.

            A project that does not run is no error.
            """)

    @OptionGroup var stack: StackOptions
    @OptionGroup var grace: GraceOption

    @Argument(help: "The services to stop. (default: all)", completion: .services)
    var services: [String] = []

    package init() {}

    package func run() async throws {
        let project = try stack.resolve()
        let request = ControlRequest.stop(services: services, grace: grace.grace)
        if try await StackControl(project: project).perform(request) { return }
        let wereLeft = try await project.stopUnsupervised(services, grace: grace.grace)
        await Console.error.tell(
            wereLeft
                ? "stopped the processes that a killed supervisor of project '\(project.name)' had left"
                : "project '\(project.name)' was not running")
    }
}

package struct RestartCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "restart", abstract: "Restart services, in the order of their dependencies.",
        discussion: """
            segue restart web
            segue restart --dry-run broker

            A service that depends on a restarted service with 'restart: true' is restarted, too.

            The exit status is 1 if the project was never started, or a service fails.
            """)

    @OptionGroup var stack: StackOptions
    @OptionGroup var grace: GraceOption

    @Flag(help: "Do not restart the services that depend on the named services.")
    var noDeps = false

    @Flag(help: "Restart nothing; print the services that would be restarted.")
    var dryRun = false

    @Argument(help: "The services to restart. (default: all)", completion: .services)
    var services: [String] = []

    package init() {}

    package func run() async throws {
        let project = try stack.resolve()
        let request = ControlRequest.restart(services: services, followed: !noDeps, grace: grace.grace)
        try await StackControl(project: project, isRehearsal: dryRun).perform(request) {
            let saved = try stack.savedStack(of: project)
            if dryRun {
                return await Console.error.tell("project '\(project.name)' is not running; it would be started")
            }
            try await DetachedStack(
                project: project, stack: saved, selection: try project.lastSelection(adding: services)
            )
            .start(until: .ready)
        }
    }
}

package struct KillCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "kill", abstract: "Send a signal to the processes of services.",
        discussion: """
            segue kill web
            segue kill -s SIGHUP web

            If the signal ends a service, its restart policy applies. Use 'segue stop' for a service that must stay \
            stopped.

            The exit status is 1 if the project does not run.
            """)

    @OptionGroup var stack: StackOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("The signal, by name or number.", valueName: "signal"))
    var signal = "SIGKILL"

    @Argument(help: "The services to send the signal to. (default: all)", completion: .services)
    var services: [String] = []

    package init() {}

    package func validate() throws {
        guard StopSignal(signal) != nil else {
            throw ValidationError("there is no signal '\(signal)'; write a name such as SIGTERM, or a number")
        }
    }

    package func run() async throws {
        let project = try stack.resolve()
        let number = StopSignal(signal)?.number ?? 0
        guard try await ControlClient(project: project).send(.kill(services: services, signal: number)) != nil else {
            throw CommandError(
                code: "not-running", "project '\(project.name)' has no supervisor",
                recovery: "'segue down' stops processes that a killed supervisor may have left")
        }
    }
}

package struct ScaleCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "scale", abstract: "Set the number of processes of services.",
        discussion: """
            segue scale web=3
            segue scale web=3 worker=0

            Processes of a service are started or stopped until it has this number. All other processes keep running.

            The exit status is 1 if the project was never started, or a service fails.
            """)

    @OptionGroup var stack: StackOptions

    @Argument(
        help: ArgumentHelp(
            "A service and its number of processes, 0 to 1000, such as web=3.", valueName: "service=number"))
    var numbers: [Scale]

    package init() {}

    package func run() async throws {
        let project = try stack.resolve()
        let request = ControlRequest.scale(numbers.byService)
        try await StackControl(project: project).perform(request) {
            let saved = try stack.savedStack(of: project).scaled(numbers)
            try await DetachedStack(project: project, stack: saved, selection: try project.lastSelection())
                .start(until: .ready)
        }
    }
}

/// A service and the number of its processes, 0 to 1000, such as `web=3`.
struct Scale: Sendable, Hashable, ExpressibleByArgument {
    let service: String
    let number: Int

    init?(argument: String) {
        let parts = argument.split(scalar: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let number = Int(parts[1]), (0...1000).contains(number) else {
            return nil
        }
        service = String(parts[0])
        self.number = number
    }
}

extension [Scale] {
    /// The number for each service; the last number if a service is repeated.
    var byService: [String: Int] {
        Dictionary(map { ($0.service, $0.number) }) { _, last in last }
    }
}

extension Stack {
    /// The stack with the given numbers of processes.
    /// - Throws: ``CommandError`` `unknown-service` if a number is for a service that is not in the stack;
    ///   ``ComposeError`` `invalid-stack` if two processes would have one name.
    func scaled(_ numbers: [Scale]) throws -> Stack {
        var stack = self
        try check(numbers.map(\.service), among: services.map(\.name))
        for (name, number) in numbers.byService {
            guard let index = services.firstIndex(where: { $0.name == name }) else { continue }
            stack.services[index].replicas = number
        }
        try stack.validate()
        return stack
    }

    /// - Throws: ``CommandError`` `unknown-service` for the first name that is not in `known`.
    func check(_ names: [String], among known: [String]) throws {
        guard let unknown = names.first(where: { !known.contains($0) }) else { return }
        throw CommandError(
            code: "unknown-service", "there is no service '\(unknown)'",
            recovery: Spelling.suggestion(for: unknown, among: known)
                ?? "the services are \(services.map(\.name).sorted().joined(separator: ", "))",
            status: .configuration)
    }
}
