internal import ArgumentParser
package import Device
internal import Foundation
internal import Logging
internal import Navigation
internal import Projects
internal import ServiceRuntime

/// The command line of a device in a terminal, and its process.
package struct DeviceOptions: ParsableArguments {
    /// What a person or a script may write, for the help of each such program.
    package static let discussion = """
        Pick by number, or by the beginning of what a choice says. b goes back, d dismisses what is presented, \
        x dismisses the error, o opens the URL that is shown, q quits.

        Answers may be piped in, a line each. A line waits until what it names is on the screen and the one before \
        is answered: a number, a label such as 'Connect Spotify', or a command such as 'PlaylistSelected ID'. After \
        a pick a number also waits for another screen; on the same one, use names. '@playlistSelection' waits for \
        that screen.

        Screens that nobody has drawn show their arguments and the session's documents, and the commands that the flow \
        lets them send, with fields as in 'NameEntered name=Ann age=5' or 'NameEntered {"name": "Ann"}'.
        """

    @Option(help: ArgumentHelp("The bus, such as ipc:///run/segue or tcp://host:port.", valueName: "url"))
    var bus: String?

    @Option(
        name: [.short, .customLong("project-name")],
        help: ArgumentHelp(
            "The project whose bus it is. Without it: SEGUE_BUS, else the project of the folder's compose file.",
            valueName: "name"))
    var project: String?

    @Option(help: ArgumentHelp("The platform whose screens to show. (default: the flow's)", valueName: "name"))
    var platform: String?

    @Option(help: ArgumentHelp("A flow whose screens to show, such as config/flows/ios.yaml.", valueName: "file"))
    var flow: String?

    @OptionGroup var contract: ContractOption

    @Option(help: "A name that tells it from other devices of the platform. (default: a new one)")
    var device: String?

    @Option(help: "The session, one user's app.")
    var subject = "default"

    @Option(help: "A command that opens each URL at once, its last argument. (default: o runs $BROWSER or xdg-open)")
    var open: String?

    @Option(help: "How many seconds a line that is piped in may wait.")
    var timeout: UInt32 = 30

    package init() {}

    /// Runs the device's process until the input ends or its writer quits.
    /// - Parameters:
    ///   - name: of the process.
    ///   - screens: those that the app draws itself.
    /// - Throws: what ends the process.
    package func run(_ name: String, screens: AppScreens? = nil) async throws {
        let (platform, flow) = try shown(by: screens)
        let process = ServiceProcess(
            name, receives: DeviceSession.receives(flow: flow, screens: screens),
            sends: DeviceSession.sends(flow: flow, screens: screens), logLevel: .warning)
        let identity = DeviceIdentity(
            platform: platform, device: device ?? "\(platform)-\(process.instance)", subject: subject,
            source: process.source)
        var options = ServiceOptions()
        options.contract = contract
        if !contract.isAsked { options.bus = try busAddress(of: name) }
        let opener = open.flatMap(URLOpener.init)
        try await process.run(options) { process in
            let terminal = TerminalDevice(
                identity, bus: process.bus, busAddress: process.busAddress, terminal: .standard,
                timeout: .seconds(timeout), flow: flow, screens: screens, opener: opener, logger: process.logger)
            return [terminal]
        }
    }

    /// `--bus`, else the project of `-p`, else `SEGUE_BUS`, else the folder's own project.
    private func busAddress(of name: String) throws -> String {
        if let bus { return bus }
        if project == nil, let bus = ProcessInfo.processInfo.environment["SEGUE_BUS"], !bus.isEmpty { return bus }
        do throws(ProjectPlace.Unknown) {
            return try ProjectPlace.busAddress(of: project)
        } catch {
            throw ServiceProcess.refuse(["\(name): \(error)"])
        }
    }

    /// The platform, and its flow if one was named.
    /// - Throws: what ends the process with what is wrong with the options or with the flow's file.
    private func shown(by screens: AppScreens?) throws -> (platform: String, flow: Flow?) {
        guard let file = flow else {
            let platforms = screens?.platforms
            guard let platform, platforms?.contains(platform) ?? true else {
                let names = platforms?.joined(separator: " or ") ?? "NAME"
                throw ValidationError("name the platform, --platform \(names), or its flow, --flow FILE")
            }
            return (platform, nil)
        }
        let flow = try ServiceProcess.readFlow(file)
        guard platform == nil || platform == flow.platform else {
            throw ValidationError(
                "\(file) is for \(flow.platform), and --platform is \(platform ?? ""); leave --platform out")
        }
        return (flow.platform, flow)
    }
}
