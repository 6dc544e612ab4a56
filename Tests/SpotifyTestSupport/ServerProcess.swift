/// Runs a server beside a test, and stops it when the test is done.
package enum ServerProcess {
    /// - Parameters:
    ///   - run: serves until it is cancelled, and tells its port once.
    ///   - body: gets the base URL.
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

    package struct NeverListened: Error {}
}
