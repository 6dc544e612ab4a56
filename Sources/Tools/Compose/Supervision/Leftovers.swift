import Logging

/// The processes that a killed supervisor has left.
///
/// They are found by their ``ProcessTag`` and by the last status.
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
        var hadAny = false
        // This is repeated, because a process may have been forked while the processes were listed.
        while case let left = try await sessions(names), !left.isEmpty {
            hadAny = true
            for instance in left.keys.sorted() {
                logger?.notice(
                    "ending processes that a killed supervisor has left", metadata: ["service": "\(instance)"])
            }
            await withTaskGroup { group in
                for session in left.values {
                    group.addTask { await session.terminate(signal: .terminate, grace: grace) }
                }
            }
        }
        return hadAny
    }

    /// The processes of each instance that has any.
    private func sessions(_ names: [String]) async throws(ComposeError) -> [String: ProcessSession] {
        func matches(_ service: String, _ instance: String) -> Bool {
            names.isEmpty || names.contains(service) || names.contains(instance)
        }
        var sessions: [String: ProcessSession] = [:]
        for tag in Set(await ProcessCensus.shared.members().compactMap(\.tag))
        where tag.project == project.stateDirectory && matches(tag.service, tag.instance) {
            sessions[tag.instance] = ProcessSession(id: nil, tag: tag)
        }
        // A recorded process is found even if it has overwritten its environment.
        for service in try ProjectStatus.read(project)?.services ?? [] where matches(service.service, service.name) {
            guard let process = service.process, process.isAlive else { continue }
            let tag = ProcessTag(project: project, service: service.service, instance: service.name)
            sessions[service.name] = ProcessSession(id: process.pid, tag: tag)
        }
        return sessions
    }
}
