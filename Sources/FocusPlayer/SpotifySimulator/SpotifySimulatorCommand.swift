package import ArgumentParser
internal import ServiceRuntime

package struct SpotifySimulatorCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "spotify-simulator",
        abstract: "Simulates accounts.spotify.com and api.spotify.com on 127.0.0.1.",
        discussion: """
            spotify-simulator --catalogue config/simulator/catalogue.yaml --port 8080

            GET /_control on the running server describes how to revoke tokens, switch premium and cause faults.
            """)

    @OptionGroup var contract: ContractOption

    @Option(help: "The port to listen on; 0 selects a free port. (default: SEGUE_PORT_SPOTIFY, else 0)")
    var port: UInt16?

    @Option(help: "The path of a YAML file with the accounts, their devices and their playlists.")
    var catalogue: String

    @Option(
        help: "The path of a file that keeps approvals, tokens and players after a restart. (default: none)")
    var state: String?

    @Option(help: "The lifetime of an access token in seconds.")
    var accessTokenLifetime: UInt32 = 3600

    @Option(help: "The refreshes that return a new refresh token: never, every second time (alternate) or always.")
    var refreshTokenRotation: TokenPolicy.Rotation = .alternate

    package init() {}

    package func run() async throws {
        try await ServiceProcess("spotify-simulator").runAlone(contract) { configuration, logger in
            let settings = SpotifySimulator.Configuration(
                port: try listeningPort(configuration),
                tokenPolicy: .init(accessTokenLifetime: .seconds(accessTokenLifetime), rotation: refreshTokenRotation),
                stateFile: state)
            return [
                try SimulatorService(
                    catalogue: Catalogue(contentsOf: catalogue), configuration: settings, logger: logger)
            ]
        }
    }

    private func listeningPort(_ configuration: ServiceConfiguration) throws -> Int {
        if let port { return Int(port) }
        guard let text = configuration.value("SEGUE_PORT_SPOTIFY") else { return 0 }
        guard let port = UInt16(text) else { throw SpotifySimulatorError.invalidPort(text) }
        return Int(port)
    }
}

extension TokenPolicy.Rotation: ExpressibleByArgument {}
