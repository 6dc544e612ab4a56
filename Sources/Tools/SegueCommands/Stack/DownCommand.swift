package import ArgumentParser
internal import Compose
internal import Foundation
internal import Support

package struct DownCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "down", abstract: "Stop a project's services, and processes that a killed supervisor has left.",
        discussion: """
            segue down             stops the project of the current folder
            segue down -p demo     stops the project 'demo'
            segue down web         stops one service and removes it from the project
            segue down -v          also removes the project's data, logs and status

            On a terminal, -v asks before it stops and removes anything.

            The exit status is 1 if you decline. A project that does not run is no error.
            """)

    @OptionGroup var stack: StackOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The time, 0 to 86400, after which running processes are killed; with services, the time for each. "
                + "(default: 60; with services: their stop_grace_period)", valueName: "seconds"))
    var timeout: Int?

    @Flag(
        name: [.customShort("v"), .customLong("volumes")],
        help: "Remove the project's state: the journal, the services' data, the logs.")
    var removesState = false

    @Flag(help: "Stop nothing; print the services that would be stopped.")
    var dryRun = false

    @Argument(
        help: "The services to stop and to remove from the project until the next 'up'. (default: all)",
        completion: .services)
    var services: [String] = []

    package init() {}

    package func validate() throws {
        try GraceOption.check(timeout)
        guard !removesState || services.isEmpty else {
            throw ValidationError("-v removes the state of all services; name no service")
        }
    }

    package func run() async throws {
        let project = try stack.resolve()
        if dryRun { return try await rehearse(project) }
        if removesState, try await !isRemovalWanted(project) {
            throw CommandError(code: "declined", "nothing was stopped or removed")
        }
        let wasRunning =
            try await services.isEmpty
            ? project.stop(timeout: .seconds(timeout ?? 60)) : remove(services, of: project)
        guard services.isEmpty || !wasRunning else { return }
        await Console.error.tell("project '\(project.name)' \(wasRunning ? "is down" : "was not running")")
        guard removesState else { return }
        try project.removeState()
        await Console.error.tell("\(project.stateDirectory) is removed")
    }

    /// Asks the user on a terminal. Returns true without asking if there is no terminal.
    private func isRemovalWanted(_ project: Project) async throws -> Bool {
        guard StandardInput.isTerminal, Console.error.isTerminal else { return true }
        try await Console.error.write(
            "segue: remove \(project.stateDirectory), all data of project '\(project.name)'? [y/N] ")
        for try await lines in StandardInput.lines {
            return ["y", "yes"].contains(lines.first.map { String(decoding: $0, as: UTF8.self).trimmed.lowercased() })
        }
        return false
    }

    private func remove(_ services: [String], of project: Project) async throws -> Bool {
        let grace = timeout.map { Duration.seconds($0) }
        if try await StackControl(project: project).perform(.remove(services: services, grace: grace)) { return true }
        return try await project.stopUnsupervised(services, grace: grace)
    }

    private func rehearse(_ project: Project) async throws {
        let instances = try ProjectStatus.read(project)?.instances(named: services, of: project) ?? []
        let alive = instances.filter { $0.process?.isAlive ?? false }
        await StackControl(project: project, isRehearsal: true).tell(
            alive.map { Change(instance: $0.name, action: .remove, round: $0.order.round, reason: nil) })
        if removesState { await Console.error.tell("\(project.stateDirectory) would be removed") }
    }
}
