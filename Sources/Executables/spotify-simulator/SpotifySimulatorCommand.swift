import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import SpotifySimulator
import UnixSignals

@main
struct SpotifySimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "spotify-simulator",
        abstract: "A stand-in for accounts.spotify.com and api.spotify.com, on 127.0.0.1.",
        discussion: "GET /_control on the running server tells how to revoke tokens, switch premium and order faults."
    )

    @Option(help: "The port; 0 picks a free one. (default: SEGUE_PORT_SPOTIFY, else 0)")
    var port: UInt16?

    @Option(help: "The account, its devices and playlists, in YAML.")
    var catalogue: String

    @Option(help: "Where to keep what the user approved across restarts. (default: nowhere)")
    var state: String?

    @Option(help: "How many seconds an access token lasts.")
    var accessTokenLifetime: UInt32 = 3600

    @Option(help: "When a refresh gives a new refresh token.")
    var refreshTokenRotation: TokenPolicy.Rotation = .alternate

    func run() async throws {
        let logger = Logger(label: "spotify-simulator")
        let simulator = try SpotifySimulator(
            catalogue: Catalogue(contentsOf: catalogue),
            configuration: .init(
                port: try listeningPort(),
                tokenPolicy: .init(accessTokenLifetime: .seconds(accessTokenLifetime), rotation: refreshTokenRotation),
                stateFile: state
            ),
            logger: logger,
            onReady: { port in logger.notice("listening on http://127.0.0.1:\(port)") }
        )
        try await ServiceGroup(
            services: [simulator],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        ).run()
    }

    private func listeningPort() throws -> Int {
        if let port { return Int(port) }
        guard let text = ProcessInfo.processInfo.environment["SEGUE_PORT_SPOTIFY"] else { return 0 }
        guard let port = UInt16(text) else { throw SpotifySimulatorError.invalidPort(text) }
        return Int(port)
    }
}

extension TokenPolicy.Rotation: ExpressibleByArgument {}
