internal import ArgumentParser
package import Device
internal import EventBus
internal import Foundation
internal import ServiceRuntime
internal import SignIn
internal import Support
internal import WebDevice
internal import WebInspector
internal import WebPage

/// The command line of a gateway, and its process.
package struct GatewayOptions: ParsableArguments {
    /// The help for each program with these options.
    package static let discussion = """
        Serves the page on 127.0.0.1. 'segue open' opens the page in a browser and signs it in.

        The gateway tells its address in its log. Its folder, 'web' in SEGUE_STATE_DIR, has the key that signs links \
        and cookies.
        """

    @OptionGroup var service: ServiceOptions

    @Option(help: "The port to listen on; 0 selects a free port. (default: SEGUE_PORT_WEB, else 0)")
    var port: UInt16?

    @Option(
        help: ArgumentHelp(
            "The address to listen on. Other addresses than loopback ones let other machines use the page, without "
                + "encryption.", valueName: "address"))
    var listen = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "A further name of this gateway in browsers, such as page.example.org; may be repeated.",
            valueName: "host"))
    var allowHost: [String] = []

    @Flag(help: "Publish nothing for the page.")
    var readOnly = false

    @Option(
        help: ArgumentHelp(
            "A file with the token that /metrics requires. (default: none is required on loopback)", valueName: "file"))
    var metricsTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "The folder of the gateway's key and address. (default: web in SEGUE_STATE_DIR)", valueName: "folder"))
    var state: String?

    @Option(
        help: ArgumentHelp(
            "The folder of the page's files. (default: the page beside this program)", valueName: "folder"))
    var page: String?

    package init() {}

    /// The minimum length of a token.
    private static let tokenLength = 16

    /// Runs the gateway's process.
    /// - Parameters:
    ///   - name: The name of the process.
    ///   - screens: The screens with view models. Nil if no screen has a view model.
    package func run(_ name: String, screens: AppScreens? = nil) async throws {
        let process = ServiceProcess(
            name, receives: DeviceSession.receives(flow: nil, screens: screens),
            sends: DeviceSession.sends(flow: nil, screens: screens))
        try await process.run(service) { context in
            let settings = try configuration(context.configuration, version: process.version)
            let gateway = try Gateway(settings, bus: context.bus, logger: context.logger) {
                [PageDevices($0, screens: screens), Inspector($0)]
            }
            return [gateway]
        }
    }

    private func configuration(_ settings: ServiceConfiguration, version: String) throws -> Gateway.Configuration {
        let folder = try state ?? settings.stateDirectory(for: "web").path
        var configuration = Gateway.Configuration(folder: PageFolder(folder))
        configuration.address = listen
        configuration.port = try listeningPort(settings)
        configuration.allowedHosts = allowHost
        configuration.isReadOnly = readOnly
        configuration.metricsToken = try metricsTokenFile.map(Self.token)
        configuration.stack = settings.value("SEGUE_PROJECT") ?? configuration.stack
        configuration.page = page
        configuration.version = version
        return configuration
    }

    private func listeningPort(_ settings: ServiceConfiguration) throws -> Int {
        if let port { return Int(port) }
        guard let text = settings.value("SEGUE_PORT_WEB") else { return 0 }
        guard let port = UInt16(text) else { throw GatewayError.invalidPort(text) }
        return Int(port)
    }

    private static func token(in file: String) throws(GatewayError) -> String {
        let text = FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let token = String(text.trimmed)
        guard token.utf8.count >= tokenLength else { throw .noToken(file) }
        return token
    }
}
