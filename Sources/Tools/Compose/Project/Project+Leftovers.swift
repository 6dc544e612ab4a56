import Foundation
import Logging

extension Project {
    /// Ends the processes that a supervisor left behind which was killed; only for who holds the project's lock.
    ///
    /// - Parameter names: of services or instances; all when there are none.
    /// - Returns: whether there were any.
    @discardableResult
    func stopLeftovers(
        named names: [String] = [], grace: Duration = .seconds(10), logger: Logger? = nil
    ) async throws(ComposeError) -> Bool {
        guard let status = try ProjectStatus.read(self) else { return false }
        let left = status.services.filter { service in
            let isMeant = names.isEmpty || names.contains(service.service) || names.contains(service.name)
            return isMeant && service.process.map(isLeft) ?? false
        }
        for service in left {
            let metadata: Logger.Metadata = ["service": "\(service.name)", "pid": "\(service.pid ?? 0)"]
            logger?.notice("ending what a killed supervisor left behind", metadata: metadata)
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

    /// Whether the session that this process led is still ours, and not one whose leader has been given the number.
    private func isLeft(_ process: ProcessIdentity) -> Bool {
        guard process.bootID == ProcessTable.bootID else { return false }
        let members = ProcessSession(id: process.pid).members
        if let leader = ProcessTable.entry(of: process.pid) {
            return leader.startTime == process.startTime && !members.isEmpty
        }
        // The leader is gone, but what it started carries our mark.
        return members.contains { ProcessTable.variable("SEGUE_STATE_DIR", of: $0.pid) == dataDirectory }
    }
}
