import HTTPOperations
import HTTPTypes
import Hummingbird
import Logging
import TestSupport
import Testing

@Suite("End of a server", .timeLimit(.minutes(2)))
struct ServerEndTests {
    /// A failure is a trap of the process of the tests: "Deinited NIOAsyncWriter without calling finish()". An exit
    /// test would not end here, because it waits for any child process, and other tests leave some that have ended.
    @Test("A server that is cancelled while connections arrive does not end its process")
    func cancelled() async throws {
        for _ in 0..<100 { try await serveBriefly() }
    }

    /// Runs a server that is cancelled when it has just accepted some of 32 connections.
    private func serveBriefly() async throws {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let server = HTTPServer.application(
            Router(context: PlainContext.self).buildResponder(), port: 0, hosts: AllowedHosts(),
            limits: ConnectionLimits(), logger: .silent,
            refuse: { _ in Response(status: .forbidden) }, onListening: { listening.yield($0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            guard let port = await ports.first(where: { _ in true }) else { return }
            let connections = try (0..<32).map { _ in try RawConnection(port: port) }
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
            withExtendedLifetime(connections) {}
        }
    }
}
