package import ArgumentParser
internal import Compose

package struct DownCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "down", abstract: "Stop a project's services, and processes that a killed supervisor has left.",
        discussion: """
            segue down             stops the project of the current folder
            segue down -p demo     stops the project 'demo'
            segue down web         stops one service and removes it from the project
            """)

    @OptionGroup var stack: StackOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The time, 0 to 86400, after which running processes are killed; with services, the time for each. "
                + "(default: 60; with services: their stop_grace_period)", valueName: "seconds"))
    var timeout: Int?

    @Flag(help: "Stop nothing; print the services that would be stopped.")
    var dryRun = false

    @Argument(
        help: "The services to stop and to remove from the project until the next 'up'. (default: all)",
        completion: .services)
    var services: [String] = []

    package init() {}

    package func validate() throws {
        try GraceOption.check(timeout)
    }

    package func run() async throws {
        let project = try stack.resolve()
        if dryRun { return try await rehearse(project) }
        let wasRunning =
            try await services.isEmpty
            ? project.stop(timeout: .seconds(timeout ?? 60)) : remove(services, of: project)
        guard services.isEmpty || !wasRunning else { return }
        await Console.error.tell("project '\(project.name)' \(wasRunning ? "is down" : "was not running")")
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
    }
}
