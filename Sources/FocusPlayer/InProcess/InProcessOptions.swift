internal import ArgumentParser
package import Device
internal import Foundation
internal import ServiceRuntime
internal import SystemSupport
package import TerminalDevice

/// The options of `focus-player` that run the whole app in its process.
package struct InProcessOptions: ParsableArguments {
    @Flag(
        name: .customLong("in-process"),
        help: "Run the whole app in this process, without a broker and other processes.")
    package var isAsked = false

    @Flag(name: .customLong("simulator"), help: "With --in-process: use a simulated Spotify, in this process too.")
    var isSimulated = false

    @Option(
        help: ArgumentHelp(
            """
            With --in-process: the folder in which the app keeps its state. (default: SEGUE_STATE_DIR, or else the state \
            is lost at the end)
            """,
            valueName: "folder"))
    var state: String?

    package init() {}

    package func validate() throws {
        guard isAsked || !isSimulated && state == nil else {
            throw ValidationError("--simulator and --state need --in-process")
        }
    }

    /// Runs the app with a device in the terminal, until the input ends or the person enters `q`.
    /// - Parameters:
    ///   - name: The name of the process.
    ///   - screens: The screens with view models.
    /// - Throws: The error that ends the process.
    package func run(_ name: String, _ device: DeviceOptions, screens: AppScreens) async throws {
        guard !device.namesBus else { throw ValidationError("--in-process uses no other bus: omit --bus and -p") }
        let (program, platform, file) = try device.program(name, screens: screens)
        let flow = try ServiceProcess.readFlowFile(file ?? Self.path("config/flows/\(platform).yaml"))
        let catalogue = isSimulated ? Self.path("config/simulator/catalogue.yaml") : nil
        var process = program.process
        process.holdsSecrets = true
        try await process.main { configuration, logger in
            try await withStateFolder(configuration) { folder in
                try await InProcessApp(flows: [flow], catalogue: catalogue, stateFolder: folder)
                    .run(configuration: configuration, stopsOnSignals: true) { _ in [program] }
            }
        }
    }

    /// Runs `body` with the folder of the option, or else of the environment, or else with a new folder that only this
    /// user can open and that is removed afterwards.
    private func withStateFolder(
        _ configuration: ServiceConfiguration, _ body: (String) async throws -> Void
    ) async throws {
        if let folder = state ?? configuration.value("SEGUE_STATE_DIR") { return try await body(folder) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "focus-player-\(UUID().uuidString)")
        try PrivateFolder.make(folder.path)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path)
    }

    /// The path of a file of the app: below the working folder, or else where it is installed.
    private static func path(_ file: String) -> String {
        FileManager.default.fileExists(atPath: file) ? file : InstalledFiles.path(of: file) ?? file
    }
}
