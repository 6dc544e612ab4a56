import Logging

/// Runs one instance each time its start is requested and its dependencies allow it, until it is no longer needed.
///
/// An instance has only one keeper, and a keeper starts one process at a time.
struct InstanceKeeper: Sendable {
    let name: String
    let project: Project
    let board: StatusBoard
    let options: SupervisorOptions
    let clock: RunningClock
    let executor: BlockingExecutor
    let logger: Logger

    func run() async {
        var log: ServiceLog?
        while let service = await nextRound() {
            do throws(ComposeError) {
                let open: ServiceLog
                if let log { open = log } else { open = try await openLog() }
                log = open
                await runner(of: service, log: open).run()
            } catch {
                board.update { $0.fail(name, with: error) }
            }
        }
    }

    /// Waits until the instance is to be started.
    ///
    /// - Returns: the service to start; nil if the keeper is no longer needed.
    private func nextRound() async -> Service? {
        for await view in board.views() {
            switch view.nextStep(of: name) {
            case .wait: continue
            case .refuse: board.update { $0.refuseRound(of: name) }
            case .leave: if board.update({ $0.dismiss(name) }) { return nil }
            case .start:
                guard let service = board.update({ $0.claimRound(of: name) }) else { continue }
                warn(ofDependenciesLostTo: service, view)
                return service
            }
        }
        return nil
    }

    /// Logs a warning for each dependency that cannot be met but is not required. The service starts nevertheless.
    private func warn(ofDependenciesLostTo service: Service, _ view: Roster) {
        for dependency in service.dependencies
        where !dependency.isRequired && view.prospect(of: dependency) == .impossible {
            let metadata: Logger.Metadata = ["service": "\(name)", "dependency": "\(dependency.service)"]
            logger.warning("a service starts without an optional dependency", metadata: metadata)
        }
    }

    private func openLog() async throws(ComposeError) -> ServiceLog {
        try await ServiceLog.open(
            service: name, files: project.logFiles(of: name), retention: options.logs, logger: logger)
    }

    private func runner(of service: Service, log: ServiceLog) -> ServiceRunner {
        let view = board.view
        let offered = OfferedVariables(
            project: project, bus: view.stack.bus, keys: view.stack.keys, ports: view.status.ports,
            service: service.name, replica: view[name]?.replica ?? 1)
        let service = offered.expanded(service)
        let tag = ProcessTag(project: project, service: service.name, instance: name)
        return ServiceRunner(
            name: name, service: service, awaitsReadiness: view[name]?.awaitsReadiness ?? false,
            directory: view.stack.directory, project: project, board: board, log: log,
            tag: tag,
            variables: offered.environment(
                of: service, inherited: options.environment, notifyPath: project.notifyPath(of: name), tag: tag),
            options: options, clock: clock, executor: executor, logger: logger)
    }
}
