internal import Logging
internal import ServiceLifecycle

/// Runs a server on a port that the system chooses, for as long as its users need it.
package enum ListeningServer {
    /// Runs a server while `body` runs. The server then stops accepting connections, and has 5 seconds to answer the
    /// requests that it has received.
    /// - Parameters:
    ///   - run: Serves until a graceful shutdown, and reports its port once.
    ///   - body: Receives the base URL of the server, `http://127.0.0.1:PORT`. It begins when the server listens.
    /// - Throws: The error of `run` if the server does not listen, and the error of `body`.
    package static func with<Result>(
        _ run: @escaping @Sendable (_ listening: @escaping @Sendable (Int) -> Void) async throws -> Void,
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        // A server of Hummingbird that is cancelled while it accepts a connection ends the process (hummingbird 2.28.1,
        // `Server.run`: "Deinited NIOAsyncWriter without calling finish()").
        let server = ServiceGroup(
            configuration: configuration(of: Serving { try await run { continuation.yield($0) } }))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await server.run()
            }
            guard let port = await ports.first(where: { _ in true }) else {
                try await group.waitForAll()
                throw NeverListened()
            }
            let result: Swift.Result<Result, any Error>
            do {
                result = .success(try await body("http://127.0.0.1:\(port)"))
            } catch {
                result = .failure(error)
            }
            await server.triggerGracefulShutdown()
            // An answer that is cut off at the end is no error of the body.
            try? await group.waitForAll()
            return try result.get()
        }
    }

    private static func configuration(of service: Serving) -> ServiceGroupConfiguration {
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
            logger: Logger(label: "server") { _ in SwiftLogNoOpLogHandler() })
        configuration.maximumGracefulShutdownDuration = .seconds(5)
        return configuration
    }

    private struct Serving: Service {
        let serve: @Sendable () async throws -> Void

        func run() async throws { try await serve() }
    }

    /// The server ended without an error before it listened.
    package struct NeverListened: Error {}
}
