/// Runs a server on a port that the system chooses, for as long as its users need it.
package enum ListeningServer {
    /// Runs a server while `body` runs.
    /// - Parameters:
    ///   - run: Serves until the task is cancelled, and reports its port once.
    ///   - body: Receives the base URL of the server, `http://127.0.0.1:PORT`. It begins when the server listens.
    /// - Throws: The error of `run` if the server does not listen, and the error of `body`.
    package static func with<Result>(
        _ run: @escaping @Sendable (_ listening: @escaping @Sendable (Int) -> Void) async throws -> Void,
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await run { continuation.yield($0) }
            }
            guard let port = await ports.first(where: { _ in true }) else {
                try await group.waitForAll()
                throw NeverListened()
            }
            defer { group.cancelAll() }
            return try await body("http://127.0.0.1:\(port)")
        }
    }

    /// The server ended without an error before it listened.
    package struct NeverListened: Error {}
}
