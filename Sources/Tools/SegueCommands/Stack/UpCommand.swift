package import ArgumentParser
internal import Compose
internal import Foundation
internal import Glibc
internal import Logging
internal import Support

package struct UpCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "up", abstract: "Start the services of a compose file, and apply their restart policies.",
        discussion: """
            segue up -d                    runs the stack in the background
            segue up                       runs the stack in the foreground, until Ctrl-C
            segue up -d --wait web         returns when 'web' is ready
            segue up --wait --wait-timeout 60
            segue up -d --scale web=3      starts three processes of 'web'

            In the foreground, Ctrl-C stops the services in order; a second Ctrl-C stops them at once. In the \
            background, a running project is updated: services that have changed in the file are restarted, services \
            that are no longer in the file are removed, and all others keep running.

            The exit status is 1 if a service fails to start, and 75 if the services are not ready within \
            --wait-timeout. With --abort-on-failure in the foreground, it is that of the service that failed.
            """)

    @OptionGroup var stack: StackOptions
    @OptionGroup var options: UpOptions

    @Flag(
        name: [.short, .customLong("detach")], help: "Run in the background; return when the processes have started.")
    var detached = false

    @Flag(help: "Run in the background; return when all services are ready or have ended.")
    var wait = false

    @Option(
        help: ArgumentHelp(
            "With --wait: fail if the services are not ready after this time; they continue to run. (default: none)",
            valueName: "seconds"))
    var waitTimeout: Int?

    @Option(help: .hidden)
    var exitCodeFrom: String?

    @Flag(help: .hidden)
    var watch = false

    @Flag(help: "Change nothing; print the changes that would be made.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "With -d or --wait: print the output of the services until the command returns.")
    var verbose = false

    package init() {}

    package func validate() throws {
        if let service = exitCodeFrom {
            throw ValidationError(
                "--exit-code-from is not supported; run 'segue up -d' and 'segue wait --down-project \(service)'")
        }
        if watch {
            throw ValidationError("--watch is not supported; build the service yourself, then run 'segue up -d'")
        }
        guard let waitTimeout else { return }
        guard wait else { throw ValidationError("--wait-timeout needs --wait") }
        guard (1...86_400).contains(waitTimeout) else {
            throw ValidationError("--wait-timeout is \(waitTimeout); it has to be between 1 and 86400 seconds")
        }
    }

    package func run() async throws {
        let sources = try stack.files.sources()
        let project = try stack.project.resolve(sources)
        let file = try await stack.files.read(sources, project: project.name)
        try await file.placing { try await up(file, project) }
    }

    private func up(_ file: ComposeFile, _ project: Project) async throws {
        if dryRun { try project.checkOrigin(file: file.path) } else { try project.record(file: file.path) }
        let request = try options.request(for: file, profiles: stack.files.profile)
        if dryRun {
            try await rehearse(request, project)
        } else if detached || wait {
            let milestone: Milestone = wait ? .ready : .launched
            try await limited(project) {
                try await StackControl(project: project).perform(.up(request), until: milestone) {
                    try await DetachedStack(
                        project: project, stack: request.stack, selection: request.selection,
                        arguments: options.supervise.arguments, isVerbose: verbose
                    ).start(until: milestone)
                }
            }
        } else {
            try await ForegroundStack(
                stack: request.stack, project: project, selection: request.selection, options: options.supervise
            ).run()
        }
    }

    /// Cancels `body` after the time of `--wait-timeout`.
    private func limited(_ project: Project, _ body: @escaping @Sendable () async throws -> Void) async throws {
        guard let waitTimeout else { return try await body() }
        try await withTimeLimit(
            .seconds(waitTimeout), orThrow: try Self.notReady(project, within: waitTimeout), body)
    }

    private static func notReady(_ project: Project, within timeout: Int) throws -> CommandError {
        let waiting =
            try ProjectStatus.read(project)?.services.filter { $0.order.isWanted && !$0.isUp }.map(\.name) ?? []
        return CommandError(
            code: "wait-timeout",
            "project '\(project.name)' was not ready within \(timeout) s: \(waiting.joined(separator: ", "))",
            recovery: "its services continue to run; see 'segue ps' and 'segue logs'", status: .temporaryFailure)
    }

    private func rehearse(_ request: UpRequest, _ project: Project) async throws {
        let control = StackControl(project: project, isRehearsal: true)
        if try await !control.perform(.up(request)) { await control.tell(try request.changesFromNothing(project)) }
    }
}

/// The options that select the services of `up`, and the services that are restarted.
struct UpOptions: ParsableArguments, Sendable {
    @Flag(help: "Do not start the dependencies of the named services.")
    var noDeps = false

    @Option(
        help: ArgumentHelp(
            "The number of processes of a service, 0 to 1000, such as web=3; overrides the file. May be repeated.",
            valueName: "service=number"))
    var scale: [Scale] = []

    @Flag(help: "Restart services that have not changed, too.")
    var forceRecreate = false

    @Flag(help: "Do not restart services that have changed.")
    var noRecreate = false

    @OptionGroup var supervise: SuperviseOptions

    @Argument(help: "The services to start, with their dependencies. (default: all)", completion: .services)
    var services: [String] = []

    func validate() throws {
        guard !forceRecreate || !noRecreate else {
            throw ValidationError("--force-recreate and --no-recreate exclude each other")
        }
        guard !noDeps || !services.isEmpty else { throw ValidationError("--no-deps needs the names of services") }
    }

    /// - Parameter profiles: the profiles of `--profile`; if empty, the profiles of the environment apply.
    /// - Throws: ``CommandError`` if `--scale` names an unknown service; ``ComposeError`` if a service requires a
    ///   service that has no active profile.
    func request(for file: ComposeFile, profiles: [String]) throws -> UpRequest {
        let named = file.stack.services.filter { services.contains($0.name) }
        let active = (profiles.isEmpty ? file.profiles : profiles) + named.flatMap(\.profiles)
        let stack = try file.stack.selecting(profiles: active)
        return UpRequest(
            stack: try stack.scaled(scale),
            inactive: Set(file.stack.services.map(\.name)).subtracting(stack.services.map(\.name)),
            selection: Selection(services, includesDependencies: !noDeps),
            recreation: forceRecreate ? .always : noRecreate ? .never : .changed, grace: supervise.grace.grace)
    }
}

/// A stack that this command runs in the foreground.
struct ForegroundStack {
    let stack: Stack
    let project: Project
    var selection = Selection.all
    let options: SuperviseOptions
    private let begin = Date()

    /// Runs the services, and prints their output and events, until all have ended or were stopped.
    /// - Throws: with `--abort-on-failure`, an `ExitCode` with the exit status of the service whose failure stops the
    ///   project; the ``ComposeError`` of the supervisor; an `Errno` if standard output cannot be written, after all
    ///   services have stopped.
    func run() async throws {
        var logger = Logger(label: "supervisor")
        // Changes of a service's state are printed as events, so the supervisor's log messages about these changes are
        // not needed.
        logger.logLevel = .error
        let supervisor = try Supervisor(
            stack: stack, selection: selection, project: project,
            // The process receives SIGHUP when its terminal is closed.
            options: options.supervisorOptions(stopSignals: [SIGINT, SIGTERM, SIGHUP]), logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await stopping(supervisor) { try await showLogs() } }
            group.addTask { try await stopping(supervisor) { try await showEvents() } }
            group.addTask { try await stopping(supervisor) { try await Console.output.waitForBrokenPipe() } }
            do {
                try await supervisor.run()
            } catch var error as ComposeError {
                group.cancelAll()
                try await group.waitForAll()
                // The last lines of the log were already printed, when the service wrote them.
                error.logTail = []
                if options.abortOnFailure, let status = error.exitStatus {
                    await Console.error.tell(error.description)
                    throw ExitCode(status)
                }
                throw error
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// Runs `show`. Stops the stack if `show` fails, for example because the output has no reader any more.
    private func stopping(_ supervisor: Supervisor, ifFails show: () async throws -> Void) async throws {
        do {
            try await show()
        } catch {
            supervisor.stop()
            throw error
        }
    }

    /// Prints the lines of the log files.
    private func showLogs() async throws {
        var printer = LogPrinter(services: stack.services.flatMap(\.instances))
        for await line in try project.logs(since: begin) {
            try await printer.show(line)
        }
        try await printer.end()
    }

    private func showEvents() async throws {
        for await event in try project.events(since: begin) where event.instance != nil && event.action != .created {
            await Console.error.tell(event.line(in: project))
        }
    }
}
