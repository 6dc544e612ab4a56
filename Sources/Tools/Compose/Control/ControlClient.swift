import Foundation
import Support
import SystemSupport

/// Sends requests to a project's supervisor from another process.
package struct ControlClient: Sendable {
    private let project: Project
    /// The maximum time to wait for an answer; after it, the request fails with `control-silent`.
    private let patience: Duration

    package init(project: Project, patience: Duration = .seconds(30)) {
        self.project = project
        self.patience = patience
    }

    /// Sends a request and waits for the answer, but not for the effects of the request.
    ///
    /// - Parameter isRehearsal: true to get the changes that the request would make, without making them.
    /// - Returns: the change for each instance; nil if no supervisor runs for the project.
    /// - Throws: ``ComposeError``: the supervisor's error if it refuses the request; `stopping` if it is stopping;
    ///   `control-silent` if it does not answer in time; `status-unreadable`.
    package func send(_ request: ControlRequest, isRehearsal: Bool = false) async throws -> [Change]? {
        let begin = ContinuousClock.now
        let deadline = begin + patience
        // The supervisor gets an earlier deadline, so that its answer can arrive in time.
        let call = try JSONEncoder().encode(
            ControlCall(request: request, isRehearsal: isRehearsal, deadline: begin + patience * 0.9))
        while true {
            if let reply = try await exchange(call, until: deadline) { return try changes(reply) }
            // While a supervisor starts or ends, its process runs but may not listen.
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

    /// - Returns: the answer; nil if no process listens, or if the connection ended without an answer.
    private func exchange(_ call: Data, until deadline: ContinuousClock.Instant) async throws -> Data? {
        let path = project.controlPath
        guard try project.runtimeFolder() != nil else { return nil }
        return try await withTimeLimit(
            ContinuousClock.now.duration(to: deadline),
            orThrow: ComposeError(
                code: "control-silent", message: "the supervisor of project '\(project.name)' does not answer",
                recovery: "run 'segue down' to end it and its services")
        ) {
            guard let socket = UnixStream.connect(to: path) else { return nil }
            await socket.writeAll(call)
            let reply = await socket.readAll(limit: ControlServer.longestCall)
            return reply?.isEmpty == false ? reply : nil
        }
    }

    private func silent(_ status: ProjectStatus) -> ComposeError {
        let isStopping = status.phase == .stopping || status.phase == .stopped
        return ComposeError(
            code: isStopping ? "stopping" : "control-silent",
            message: "project '\(project.name)' \(isStopping ? "is stopping" : "does not answer")",
            recovery: isStopping ? "try again when it has stopped" : "run 'segue down' to end it and its services")
    }
}
