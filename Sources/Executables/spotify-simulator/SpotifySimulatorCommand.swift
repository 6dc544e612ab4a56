import ArgumentParser
import ServiceRuntime
import SpotifySimulator

@main
struct SpotifySimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "spotify-simulator",
        abstract: "A stand-in for accounts.spotify.com and api.spotify.com, on 127.0.0.1.",
        discussion: "GET /_control on the running server tells how to revoke tokens, switch premium and order faults.")

    @OptionGroup var contract: ContractOption

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
