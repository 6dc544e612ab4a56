package import ArgumentParser
internal import Compose

package struct StartCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Starts services that were stopped or have ended, and what they depend on.")

    @OptionGroup var stack: StackOptions

    @Argument(help: "These services; without any: all.", completion: .services)
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
        commandName: "stop", abstract: "Stops services; they stay stopped until they are started again.",
        discussion:
            "Of those that are named, the ones that depend on others stop first. The rest of the project goes on.")

    @OptionGroup var stack: StackOptions
    @OptionGroup var grace: GraceOption

    @Argument(help: "These services; without any: all.", completion: .services)
    var services: [String] = []

    package init() {}

    package func run() async throws {
        let project = try stack.resolve()
        let request = ControlRequest.stop(services: services, grace: grace.grace)
        if try await StackControl(project: project).perform(request) { return }
        let wereLeft = try await project.stopUnsupervised(services, grace: grace.grace)
        await Console.error.tell(
            wereLeft
                ? "ended what a killed supervisor of project '\(project.name)' left"
                : "project '\(project.name)' was not running")
    }
}

package struct RestartCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "restart", abstract: "Restarts services, in the order of their dependencies.",
        discussion: "Services that depend on them with 'restart: true' are restarted, too.")

    @OptionGroup var stack: StackOptions
    @OptionGroup var grace: GraceOption

    @Flag(help: "Leave the services alone that depend on them.")
    var noDeps = false

    @Flag(help: "Only tell what would be restarted.")
    var dryRun = false

    @Argument(help: "These services; without any: all.", completion: .services)
    var services: [String] = []

    package init() {}

    package func run() async throws {
        let project = try stack.resolve()
        let request = ControlRequest.restart(services: services, followed: !noDeps, grace: grace.grace)
        try await StackControl(project: project, isRehearsal: dryRun).perform(request) {
            let saved = try stack.savedStack(of: project)
            if dryRun { return await Console.error.tell("project '\(project.name)' does not run: all would start") }
            try await DetachedStack(
                project: project, stack: saved, selection: try project.lastSelection(adding: services)
            )
            .start(until: .ready)
        }
    }
}

package struct KillCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "kill", abstract: "Sends a signal to the processes of services.",
        discussion:
            "What becomes of a service that it ends is up to its restart policy; 'stop' is for those that shall stay down."
    )

    @OptionGroup var stack: StackOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("The signal, by name or number.", valueName: "signal"))
    var signal = "SIGKILL"

    @Argument(help: "These services; without any: all.", completion: .services)
    var services: [String] = []

    package init() {}

    package func validate() throws {
        guard StopSignal(signal) != nil else { throw ValidationError("there is no signal '\(signal)'") }
    }

    package func run() async throws {
        let project = try stack.resolve()
        let number = StopSignal(signal)?.number ?? 0
        guard try await ControlClient(project: project).send(.kill(services: services, signal: number)) != nil else {
            throw CommandError(
                code: "not-running", "nobody supervises project '\(project.name)'",
                recovery: "'segue down' ends what may be left of it")
        }
    }
}

package struct ScaleCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "scale", abstract: "Says how many processes of a service there shall be.",
        discussion: "Those that run already and stay do so undisturbed.")

    @OptionGroup var stack: StackOptions

    @Argument(help: ArgumentHelp("Such as web=3.", valueName: "service=number"))
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

/// `web=3`: how many processes of a service there shall be.
struct Scale: Sendable, Hashable, ExpressibleByArgument {
    let service: String
    let number: Int

    init?(argument: String) {
        let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let number = Int(parts[1]), (0...1000).contains(number) else {
            return nil
        }
        service = String(parts[0])
        self.number = number
    }
}

extension [Scale] {
    /// The last word on each service counts.
    var byService: [String: Int] {
        Dictionary(map { ($0.service, $0.number) }) { _, last in last }
    }
}

extension Stack {
    /// - Throws: ``ComposeError`` `unknown-service`.
    func scaled(_ numbers: [Scale]) throws -> Stack {
        var stack = self
        for (name, number) in numbers.byService {
            guard let index = services.firstIndex(where: { $0.name == name }) else {
                throw CommandError(
                    code: "unknown-service", "there is no service '\(name)' to scale",
                    recovery: "there is \(services.map(\.name).joined(separator: ", "))")
            }
            stack.services[index].replicas = number
        }
        return stack
    }
}
