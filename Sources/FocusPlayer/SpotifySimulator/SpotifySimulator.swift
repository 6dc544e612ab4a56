package import Foundation
import HTTPOperations
import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle

/// A simulator of accounts.spotify.com and api.spotify.com: one HTTP server on 127.0.0.1 with the paths of both hosts.
///
/// Requests to `/_control` can cause failures. Set both Spotify addresses of a client to `http://127.0.0.1:PORT`.
package struct SpotifySimulator: Service {
    private let configuration: Configuration
    private let simulation: Simulation
    private let logger: Logger
    private let onReady: @Sendable (Int) async -> Void

    /// - Parameters:
    ///   - catalogue: The account with its playlists and devices.
    ///   - configuration: The port, the token policy and the state file.
    ///   - logger: Logs the messages of the server and, at the level `debug`, the routes of requests.
    ///   - now: Returns the current time, which is compared with the expiry times of codes and tokens.
    ///   - onReady: Called once with the port after the server has begun to listen.
    /// - Throws: `SpotifySimulatorError` if the state file cannot be read.
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

    /// Serves requests until the task is cancelled or the service is asked to stop.
    ///
    /// - Throws: `SpotifySimulatorError` if the server cannot listen on the port.
    package func run() async throws {
        do {
            try await makeApplication().run()
        } catch let error as IOError {
            if error.errnoCode == EADDRINUSE { throw SpotifySimulatorError.portInUse(configuration.port) }
            let reason = String(cString: strerror(error.errnoCode))
            throw SpotifySimulatorError.cannotListen(configuration.port, reason: reason)
        }
    }

    private func makeApplication() -> some ApplicationProtocol {
        var limits = ConnectionLimits()
        (limits.idle, limits.request) = (TimeAmount(configuration.idleTimeout), TimeAmount(configuration.idleTimeout))
        return HTTPServer.application(
            SimulatorResponder(simulation), port: configuration.port, hosts: AllowedHosts(), limits: limits,
            logger: logger, refuse: { $0.response }, onListening: onReady)
    }

    /// The settings of a simulator.
    package struct Configuration: Sendable, Equatable {
        /// The port on 127.0.0.1. With 0 the system chooses a free port, which `onReady` reports.
        package var port: Int
        package var tokenPolicy: TokenPolicy
        /// The file for grants, tokens (as digests) and the player. `nil` for no file.
        package var stateFile: String?
        /// The time after which a connection is closed if it has no request, or if its request does not continue.
        package var idleTimeout: Duration

        package init(
            port: Int = 0, tokenPolicy: TokenPolicy = TokenPolicy(), stateFile: String? = nil,
            idleTimeout: Duration = .seconds(60)
        ) {
            self.port = port
            self.tokenPolicy = tokenPolicy
            self.stateFile = stateFile
            self.idleTimeout = idleTimeout
        }
    }
}

/// The reason why the simulator cannot run. The description is one line with the problem and the remedy.
package struct SpotifySimulatorError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A stable identifier of the error, for programs, such as `simulator.portInUse`.
    package let code: String
    /// The problem.
    package let message: String
    /// The remedy.
    package let recovery: String

    package var description: String { "\(message); \(recovery)" }

    static func portInUse(_ port: Int) -> Self {
        Self(
            code: "simulator.portInUse",
            message: "port \(port) on 127.0.0.1 is in use",
            recovery: "choose another with --port or SEGUE_PORT_SPOTIFY (0 picks a free one)"
        )
    }

    /// The value of `SEGUE_PORT_SPOTIFY` is not a port.
    package static func invalidPort(_ text: String) -> Self {
        Self(
            code: "simulator.invalidPort",
            message: "SEGUE_PORT_SPOTIFY: '\(text)' is not a port",
            recovery: "set it to a number from 0 to 65535, or use --port"
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
            message: "\(file): cannot be read as the state of a simulator",
            recovery: "make it readable, delete it if it is damaged, or give another file with --state"
        )
    }

    static func unwritableStateFile(_ file: String) -> Self {
        Self(
            code: "simulator.unwritableStateFile",
            message: "\(file): cannot write the simulator's state",
            recovery: "check its folder and the disk, or give another file with --state"
        )
    }
}
