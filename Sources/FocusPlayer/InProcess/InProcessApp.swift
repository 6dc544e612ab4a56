internal import Foundation
internal import HTTPClient
internal import HTTPOperations
package import Logging
package import Navigation
internal import PlatformPrograms
package import ServiceRuntime
internal import Services
internal import SpotifySimulator

/// The focus player in one process: coordinators, error notifier and services, on a bus in memory.
package struct InProcessApp: Sendable {
    /// The number of messages that the journal holds for late subscribers.
    private static let journalLimit = 1000
    /// The client id that the simulator expects.
    private static let simulatedClient = "segue-focus-player"

    /// The flows, each with its YAML text.
    private let flows: [(flow: Flow, source: String)]
    /// The path of the simulator's catalogue. Nil if the app uses Spotify itself.
    private let catalogue: String?
    /// The folder of the documents, the token vault and the song database.
    private let stateFolder: String

    package init(flows: [(flow: Flow, source: String)], catalogue: String?, stateFolder: String) {
        self.flows = flows
        self.catalogue = catalogue
        self.stateFolder = stateFolder
    }

    /// Runs the app until the task is cancelled or a foreground service, such as a device, returns.
    /// - Parameters:
    ///   - stopsOnSignals: True if SIGTERM and SIGINT stop the app.
    ///   - logger: Creates the logger of a program from its name.
    ///   - devices: Returns further programs of the app, which start last and stop first. Receives the base URL of the
    ///     simulator, or an empty string if there is none.
    /// - Throws: The first error of a program, which ends all programs.
    package func run(
        configuration: ServiceConfiguration, stopsOnSignals: Bool = false,
        logger: @escaping @Sendable (String) -> Logger = { Logger(label: $0) },
        devices: (_ simulator: String) -> [ServiceProgram]
    ) async throws {
        let configuration = configuration.setting(["SEGUE_STATE_DIR": stateFolder])
        let folder = try configuration.stateDirectory(for: "focus-player").path
        try await withSpotify(configuration, folder: folder, logger: logger) { configuration, simulator in
            try await HTTPClient.with { client in
                let programs =
                    flows.map { ServiceProgram.coordinator($0.flow, source: $0.source) }
                    + [.errorNotifier, .authorization(client), .music(client)] + devices(simulator)
                try await StateFile("\(folder)/bus.json", logger: logger("focus-player"))
                    .withHub(journalLimit: Self.journalLimit) { hub in
                        try await ProgramGroup(programs, on: hub, configuration: configuration, logger: logger)
                            .run(stopsOnSignals: stopsOnSignals)
                    }
            }
        }
    }

    /// Runs `body` with the settings for Spotify. If there is a catalogue, they name a simulator that runs meanwhile.
    private func withSpotify(
        _ configuration: ServiceConfiguration, folder: String, logger: (String) -> Logger,
        _ body: (ServiceConfiguration, _ simulator: String) async throws -> Void
    ) async throws {
        guard let catalogue else { return try await body(configuration, "") }
        let content = try Catalogue(contentsOf: catalogue)
        let settings = SpotifySimulator.Configuration(stateFile: "\(folder)/spotify-simulator.json")
        let log = logger("spotify-simulator")
        try await ListeningServer.with { listening in
            try await SpotifySimulator(
                catalogue: content, configuration: settings, logger: log, onReady: { listening($0) }
            ).run()
        } _: { url in
            try await body(
                configuration.setting([
                    "SPOTIFY_CLIENT_ID": Self.simulatedClient, "SPOTIFY_ACCOUNTS_URL": url, "SPOTIFY_API_URL": url,
                ]), url)
        }
    }
}
