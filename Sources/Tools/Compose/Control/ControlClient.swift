import Foundation
import SystemSupport

/// Asks a project's supervisor for something, from another process.
package struct ControlClient: Sendable {
    private let project: Project
    /// How long the supervisor may take to answer, which it does at once unless it stands still.
    private let patience: Duration

    package init(project: Project, patience: Duration = .seconds(30)) {
        self.project = project
        self.patience = patience
    }

    /// - Parameter isRehearsal: whether to tell only what would be done.
    /// - Returns: what becomes of each instance; `nil` when nobody supervises the project.
    /// - Throws: ``ComposeError``: the supervisor's own, or `control-silent`.
    package func send(_ request: ControlRequest, isRehearsal: Bool = false) async throws -> [Change]? {
        let call = try JSONEncoder().encode(ControlCall(request: request, isRehearsal: isRehearsal))
        let deadline = ContinuousClock.now + patience
        while true {
            if let reply = try await exchange(call, until: deadline) { return try changes(reply) }
            // One that begins or ends has its name in the status, and nobody listens.
            guard let status = try ProjectStatus.read(project), status.isSupervisorAlive else { return nil }
            guard status.phase != .stopping, status.phase != .stopped, ContinuousClock.now < deadline else {
                throw silent(status)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func changes(_ reply: Data) throws -> [Change] {
        switch try JSONDecoder().decode(ControlReply.self, from: reply) {
        case .done(let changes): return changes
        case .refused(let error): throw error
        }
    }

    /// - Returns: `nil` when nobody listens, or whoever did has gone without an answer.
    private func exchange(_ call: Data, until deadline: ContinuousClock.Instant) async throws -> Data? {
        let path = project.controlPath
        return try await withThrowingTaskGroup(of: Data?.self) { group in
            group.addTask {
                guard let socket = UnixStream.connect(to: path) else { return nil }
                await socket.writeAll(call)
                let reply = await socket.readAll(limit: ControlServer.longestCall)
                return reply?.isEmpty == false ? reply : nil
            }
            group.addTask {
                try await Task.sleep(until: deadline, clock: .continuous)
                throw ComposeError(
                    code: "control-silent", message: "the supervisor of project '\(project.name)' does not answer",
                    recovery: "'segue down' ends it, and what it leaves")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private func silent(_ status: ProjectStatus) -> ComposeError {
        let isStopping = status.phase == .stopping || status.phase == .stopped
        return ComposeError(
            code: isStopping ? "stopping" : "control-silent",
            message: "project '\(project.name)' \(isStopping ? "is stopping" : "does not answer")",
            recovery: "try again when it is down")
    }
}
