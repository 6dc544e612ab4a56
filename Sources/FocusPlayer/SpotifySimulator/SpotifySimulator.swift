package import Foundation
import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle

/// A stand-in for accounts.spotify.com and api.spotify.com: one HTTP server on 127.0.0.1 that serves both hosts' paths.
///
/// It is true to what Spotify documents and to how it refuses; `/_control` makes it misbehave on demand. Point a client's
/// accounts and API addresses at `http://127.0.0.1:PORT`.
package struct SpotifySimulator: Service {
    private let configuration: Configuration
    private let simulation: Simulation
    private let logger: Logger
    private let onReady: @Sendable (Int) async -> Void

    /// - Parameters:
    ///   - catalogue: The account, and what it may see.
    ///   - configuration: Port, tokens, state file.
    ///   - logger: Hears of requests by route; never of codes, tokens or headers.
    ///   - now: The clock by which tokens expire.
    ///   - onReady: Called once with the port when the server listens.
    /// - Throws: `SpotifySimulatorError` when there is a state file that cannot be used.
    package init(
        catalogue: Catalogue,
        configuration: Configuration = Configuration(),
        logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() },
        onReady: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws {
        self.configuration = configuration
        self.simulation = try Simulation(
            SimulatorState(catalogue: catalogue, policy: configuration.tokenPolicy),
            stateFile: configuration.stateFile,
            now: now
        )
        self.logger = logger
        self.onReady = onReady
    }

    /// Serves until it is cancelled or shut down gracefully.
    ///
    /// - Throws: `SpotifySimulatorError` when it cannot listen on the port.
    package func run() async throws {
        do {
            try await makeApplication().run()
        } catch let error as IOError {
            if error.errnoCode == EADDRINUSE { throw SpotifySimulatorError.portInUse(configuration.port) }
            let reason = String(cString: strerror(error.errnoCode))
            throw SpotifySimulatorError.cannotListen(configuration.port, reason: reason)
        }
    }

    private func makeApplication() -> Application<RouterResponder<SimulatorContext>> {
        Application(
            router: Router.simulator(simulation),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: configuration.port)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { await onReady(port) }
            },
            logger: logger
        )
    }
}
