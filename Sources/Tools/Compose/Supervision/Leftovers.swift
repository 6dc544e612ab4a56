import Logging

/// The processes that a killed supervisor has left.
struct Leftovers {
    let project: Project

    /// Ends the processes. The caller must hold the project's lock.
    ///
    /// - Parameter names: the names of services or instances; empty for all.
    /// - Returns: true if there were any.
    @discardableResult
    func stop(
        _ names: [String] = [], grace: Duration = .seconds(10), logger: Logger? = nil
    ) async throws(ComposeError) -> Bool {
        guard let status = try ProjectStatus.read(project) else { return false }
        let left = status.services.filter { service in
            let isMeant = names.isEmpty || names.contains(service.service) || names.contains(service.name)
            return isMeant && service.process.map(isLeft) ?? false
        }
        for service in left {
            let metadata: Logger.Metadata = ["service": "\(service.name)", "pid": "\(service.pid ?? 0)"]
            logger?.notice("ending a process that a killed supervisor has left", metadata: metadata)
        }
        await withTaskGroup { group in
            for process in left.compactMap(\.process) {
                group.addTask {
                    await ProcessSession(id: process.pid).terminate(signal: .terminate, grace: grace)
                }
            }
        }
        return !left.isEmpty
    }

    /// True if the session that this process led still has processes, and the process id has not been given to another
    /// process.
    private func isLeft(_ process: ProcessIdentity) -> Bool {
        guard process.bootID == ProcessTable.bootID else { return false }
        let members = ProcessSession(id: process.pid).members
        if let leader = ProcessTable.entry(of: process.pid) {
            return leader.startTime == process.startTime && !members.isEmpty
        }
        // The leader has ended. The processes that it started are recognised by a variable that they inherited.
        return members.contains { ProcessTable.variable("SEGUE_STATE_DIR", of: $0.pid) == project.dataDirectory }
    }
}
