internal import ArgumentParser
package import Device
internal import Foundation
internal import Logging
internal import Navigation
internal import Opening
internal import Projects
package import ServiceRuntime
internal import Support
internal import Transports

/// The command line of a device in a terminal, and its process.
package struct DeviceOptions: ParsableArguments {
    /// The help about lines of input, for each program with these options.
    package static let discussion = """
        Enter the number of a choice, or the beginning of its label. Enter b to go back, d to dismiss a presentation, \
        x to dismiss the error, o to open the URL that is shown, q to quit.

        Input can be a pipe, with one answer per line: a number, a label such as 'Connect Spotify', or a command such \
        as 'PlaylistSelected ID'. A line waits until the line before has been answered and its own choice is on the \
        screen. After a choice, a number also waits for another screen; for the same screen, use a label or a command. \
        '@playlistSelection' waits for that screen.

        A screen that the app does not draw itself shows its arguments, the commands that the flow lets it send and, \
        if it is in front, the session's documents. Enter the fields of a command as in 'NameEntered name=Ann age=5' \
        or 'NameEntered {"name": "Ann"}'.
        """

    @Option(
        help: ArgumentHelp("The address of the bus, such as ipc:///run/segue or tcp://host:port.", valueName: "url"))
    var bus: String?

    @Flag(help: "Use a network address without keys: all who reach the port may read and publish everything.")
    var insecure = false

    @Option(
        name: [.short, .customLong("project-name")],
        help: ArgumentHelp(
            "The project whose bus is used. (default: the bus in SEGUE_BUS, or else the project of this folder)",
            valueName: "name"))
    var project: String?

    @Option(help: ArgumentHelp("The platform of the screens. (default: the platform of --flow)", valueName: "name"))
    var platform: String?

    @Option(help: ArgumentHelp("The flow of the screens, such as config/flows/ios.yaml.", valueName: "file"))
    var flow: String?

    @OptionGroup var contract: ContractOption

    @Option(help: "The name of this device, unique among the devices of its platform. (default: a new name)")
    var device: String?

    @Option(
        name: [.customLong("session"), .customLong("subject")],
        help: ArgumentHelp("The session: one user's app.", valueName: "session"))
    var subject = "default"

    @Option(
        help: "A command to run with each requested URL. (default: none; the line o runs $BROWSER or xdg-open)")
    var open: String?

    @Option(help: "The maximum time that a line from a pipe waits, in seconds; then the device fails.")
    var timeout: UInt32 = 30

    package init() {}

    /// True if an option names a bus.
    package var namesBus: Bool { bus != nil || project != nil }

    /// True if the program is only to print its contract.
    package var isContractAsked: Bool { contract.isAsked }

    /// Runs the device's process until the input ends or the person enters `q`.
    /// - Parameters:
    ///   - name: The name of the process.
    ///   - screens: The screens with view models.
    /// - Throws: The error that ends the process.
    package func run(_ name: String, screens: AppScreens? = nil) async throws {
        let program = try program(name, screens: screens).program
        var options = ServiceOptions()
        options.contract = contract
        options.insecure = insecure
        guard !contract.isAsked else { return try await program.run(options) }
        let bus = try place(of: name)
        options.bus = bus.address
        try await program.run(options, bus: BusFactory.standard.using(keyFile: bus.keyFile))
    }

    /// The device as a program, its platform, and the path of the option `--flow`.
    /// - Throws: An error that ends the process if the options or the flow's file are not valid.
    package func program(
        _ name: String, screens: AppScreens? = nil
    ) throws -> (program: ServiceProgram, platform: String, flow: String?) {
        let (platform, flow) = try shown(by: screens)
        let terminal = Terminal.standard
        var process = ServiceProcess(
            name, receives: DeviceSession.receives(flow: flow, screens: screens),
            sends: DeviceSession.sends(flow: flow, screens: screens), logLevel: .warning)
        process.logHandler = terminal.log?.handler
        let identity = DeviceIdentity(
            platform: platform, device: device ?? "\(platform)-\(process.instance)", subject: subject,
            source: process.source)
        let opener = open.flatMap(URLOpener.init)
        let timeout = Duration.seconds(timeout)
        let program = ServiceProgram(process) { process in
            let terminal = TerminalDevice(
                identity, bus: process.bus, busAddress: process.busAddress, terminal: terminal,
                timeout: timeout, flow: flow, screens: screens, opener: opener, logger: process.logger)
            return [terminal]
        }
        return (program, platform, self.flow)
    }

    /// The address of the bus: the value of `--bus`, or else the bus of the project `-p`, or else the value of
    /// `SEGUE_BUS`, or else the bus of the current folder's project. The key file is that of the project, unless the
    /// variable `SEGUE_BUS_CURVE` names one.
    private func place(of name: String) throws -> (address: String, keyFile: String?) {
        let variables = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        if let bus { return (bus, nil) }
        if project == nil, let bus = variables["SEGUE_BUS"] { return (bus, nil) }
        do throws(ProjectPlace.Unknown) {
            let bus = try ProjectPlace.bus(of: project)
            return (bus.address, variables[KeyFilePlace.variable] == nil ? bus.keyFile : nil)
        } catch {
            throw ServiceProcess.refuse(["\(name): \(error)"])
        }
    }

    /// The platform, and the flow of the option `--flow`. The flow is nil if the option is missing.
    /// - Throws: An error that ends the process if the options or the flow's file are not valid.
    private func shown(by screens: AppScreens?) throws -> (platform: String, flow: Flow?) {
        guard let file = flow else {
            let platforms = screens?.platforms
            guard let platform, platforms?.contains(platform) ?? true else {
                let names = platforms?.joined(separator: " or ") ?? "NAME"
                throw ValidationError("give the platform with --platform \(names), or a flow with --flow FILE")
            }
            return (platform, nil)
        }
        let flow = try ServiceProcess.readFlow(file)
        guard platform == nil || platform == flow.platform else {
            throw ValidationError(
                "\(file) is a flow for \(flow.platform), but --platform is \(platform ?? ""); omit --platform")
        }
        return (flow.platform, flow)
    }
}
