import Compose
import Support
import Testing

struct DeadlinePassed: Error, CustomStringConvertible {
    let description: String
}

/// Runs a body with a long deadline.
@discardableResult
func within<R: Sendable>(
    _ what: String,
    limit: Duration = .seconds(60),
    _ body: @escaping @concurrent @Sendable () async throws -> R
) async throws -> R {
    try await withTimeLimit(limit, orThrow: DeadlinePassed(description: "\(what): not within \(limit)")) {
        try await body()
    }
}

extension Supervisor {
    /// Runs the supervisor until the body has ended, and then stops it. After the deadline, the stop is immediate.
    @discardableResult
    func running<R: Sendable>(
        _ body: @escaping @concurrent @Sendable (Supervisor) async throws -> R
    ) async throws -> R {
        try await within("the run of the supervisor") {
            try await withTaskCancellationHandler {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await self.run() }
                    let result: Result<R, any Error>
                    do { result = .success(try await body(self)) } catch { result = .failure(error) }
                    self.stop()
                    try await group.waitForAll()
                    return try result.get()
                }
            } onCancel: {
                self.stop()
                self.stop()
            }
        }
    }

    @discardableResult
    func wait(for fits: @escaping @Sendable (ProjectStatus) -> Bool) async throws -> ProjectStatus {
        try await within("a status that fits", limit: .seconds(30)) {
            for await status in self.statuses where fits(status) { return status }
            throw DeadlinePassed(description: "the run ended with \(self.status)")
        }
    }

    @discardableResult
    func wait(
        for service: String,
        _ fits: @escaping @Sendable (InstanceStatus) -> Bool
    ) async throws -> InstanceStatus {
        let status = try await wait { $0[service].map(fits) ?? false }
        return try #require(status[service])
    }
}
