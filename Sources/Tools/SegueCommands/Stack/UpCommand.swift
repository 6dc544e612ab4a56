package import ArgumentParser
internal import Compose
internal import Foundation
internal import Glibc
internal import Logging

package struct UpCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "up", abstract: "Starts the services of a compose file, and keeps them up.",
        discussion: """
            In the foreground, Ctrl-C stops them in order; once more, at once. In the background, a project that runs \
            already becomes what the file says now: what has changed is restarted, what is gone is removed, and all \
            else stays as it is.
            """)

    @OptionGroup var stack: StackOptions
    @OptionGroup var options: UpOptions

    @Flag(name: [.short, .customLong("detach")], help: "Leave the services to themselves once their processes run.")
    var detached = false

    @Flag(help: "Leave them to themselves once all are ready.")
    var wait = false

    @Flag(help: "Only tell what would be done.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Show what the services write while they are waited for.")
    var verbose = false

    package init() {}

    package func run() async throws {
        let file = try await stack.files.read()
        try await file.placing { try await up(file) }
    }

    private func up(_ file: ComposeFile) async throws {
        let project = try stack.project.resolve(files: stack.files.paths(), environmentFiles: stack.files.envFile)
        let request = try options.request(for: file, profiles: stack.files.profile)
        if dryRun {
            try await rehearse(request, project)
        } else if detached || wait {
            let milestone: Milestone = wait ? .ready : .launched
            try await StackControl(project: project).perform(.up(request), until: milestone) {
                try await DetachedStack(
                    project: project, stack: request.stack, selection: request.selection,
                    arguments: options.supervise.arguments, isVerbose: verbose
                ).start(until: milestone)
            }
        } else {
            try await ForegroundStack(
                stack: request.stack, project: project, selection: request.selection, options: options.supervise
            ).run()
        }
    }

    private func rehearse(_ request: UpRequest, _ project: Project) async throws {
        let control = StackControl(project: project, isRehearsal: true)
        if try await !control.perform(.up(request)) { await control.tell(try request.changesFromNothing(project)) }
    }
}

/// What of a stack is brought up, and how.
struct UpOptions: ParsableArguments, Sendable {
    @Flag(help: "Without the services that those that are named depend on.")
    var noDeps = false

    @Option(
        help: ArgumentHelp(
            "How many processes of a service there shall be, whatever the file says; for several services, several times.",
            valueName: "service=number"))
    var scale: [Scale] = []

    @Flag(help: "Restart also what has not changed.")
    var forceRecreate = false

    @Flag(help: "Leave alone also what has changed.")
    var noRecreate = false

    @OptionGroup var supervise: SuperviseOptions

    @Argument(help: "Only these services, and what they depend on.", completion: .services)
    var services: [String] = []

    func validate() throws {
        guard !forceRecreate || !noRecreate else {
            throw ValidationError("--force-recreate and --no-recreate exclude each other")
        }
        guard !noDeps || !services.isEmpty else { throw ValidationError("--no-deps needs the names of services") }
    }

    /// - Parameter profiles: those that are asked for instead of the environment's.
    /// - Throws: ``CommandError`` when there is no such service to scale; ``ComposeError`` when a service cannot be had.
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

/// A stack that runs for as long as this command does, before its user's eyes.
struct ForegroundStack {
    let stack: Stack
    let project: Project
    var selection = Selection.all
    let options: SuperviseOptions
    private let begin = Date()

    /// - Throws: ``ComposeError`` of the supervisor; `Errno` when the output cannot be written, after all has stopped.
    func run() async throws {
        var logger = Logger(label: "supervisor")
        // What it would say of its services is shown as a change of their state.
        logger.logLevel = .error
        let supervisor = try Supervisor(
            stack: stack, selection: selection, project: project,
            // A terminal that is closed sends SIGHUP; nothing must be left behind.
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
                // They are on the screen already.
                error.logTail = []
                throw error
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// A stack that nobody can watch any more is stopped.
    private func stopping(_ supervisor: Supervisor, ifFails show: () async throws -> Void) async throws {
        do {
            try await show()
        } catch {
            supervisor.stop()
            throw error
        }
    }

    /// Follows the log files, not the services: a terminal that is stopped holds up no service, and no line is dropped.
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
