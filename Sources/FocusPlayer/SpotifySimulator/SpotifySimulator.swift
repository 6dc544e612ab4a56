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

    /// How the simulator runs.
    package struct Configuration: Sendable, Equatable {
        /// On 127.0.0.1; 0 picks a free one, which `onReady` tells.
        package var port: Int
        /// How tokens are handed out.
        package var tokenPolicy: TokenPolicy
        /// Where to keep grants, tokens (as digests) and the player, so that they survive a crash; `nil` forgets them.
        package var stateFile: String?

        /// - Parameters:
        ///   - port: 0 picks a free one.
        ///   - tokenPolicy: How tokens are handed out.
        ///   - stateFile: `nil` keeps nothing.
        package init(port: Int = 0, tokenPolicy: TokenPolicy = TokenPolicy(), stateFile: String? = nil) {
            self.port = port
            self.tokenPolicy = tokenPolicy
            self.stateFile = stateFile
        }
    }
}

/// Why the simulator cannot run. Its description is one line that a person can act on.
package struct SpotifySimulatorError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Stable, for programs.
    package let code: String
    /// What is wrong.
    package let message: String
    /// What to do.
    package let recovery: String

    package var description: String { "\(message); \(recovery)" }

    static func portInUse(_ port: Int) -> Self {
        Self(
            code: "simulator.portInUse",
            message: "port \(port) on 127.0.0.1 is in use",
            recovery: "choose another with --port or SEGUE_PORT_SPOTIFY (0 picks a free one)"
        )
    }

    /// The text in `SEGUE_PORT_SPOTIFY` is no port.
    package static func invalidPort(_ text: String) -> Self {
        Self(
            code: "simulator.invalidPort",
            message: "SEGUE_PORT_SPOTIFY is '\(text)', which is no port",
            recovery: "set it to a number from 0 to 65535 or give --port"
        )
    }

    static func cannotListen(_ port: Int, reason: String) -> Self {
        Self(
            code: "simulator.cannotListen",
            message: "cannot listen on 127.0.0.1:\(port): \(reason)",
            recovery: "choose another port with --port or SEGUE_PORT_SPOTIFY (0 picks a free one)"
        )
    }

    static func unusableStateFile(_ file: String) -> Self {
        Self(
            code: "simulator.unusableStateFile",
            message: "\(file): not the state of a simulator",
            recovery: "delete it or name another with --state"
        )
    }

    static func unwritableStateFile(_ file: String) -> Self {
        Self(
            code: "simulator.unwritableStateFile",
            message: "\(file): cannot write the simulator's state",
            recovery: "make its folder writable or name another with --state"
        )
    }
}
