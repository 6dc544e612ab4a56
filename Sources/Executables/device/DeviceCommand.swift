import ArgumentParser
import Logging
import SegueCommands
import ServiceRuntime
import TerminalDevice

@main
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "A platform's screen in a terminal.",
        discussion: """
            Pick by number, or by the beginning of what a choice says. b goes back, d dismisses what is presented, \
            x dismisses the error, o opens the URL that is shown, q quits.

            Answers may be piped in, a line each. A line waits until what it names is on the screen and the one before \
            is answered: a number, a label such as 'Connect Spotify', or a command such as 'PlaylistSelected ID'. After \
            a pick a number also waits for another screen; on the same one, use names. '@playlistSelection' waits for \
            that screen.

            With --flow it is a device of any flow's platform. Screens that nobody has drawn show their arguments and the \
            session's documents, and the commands that the flow lets them send, with fields as in 'NameEntered name=Ann \
            age=5' or 'NameEntered {"name": "Ann"}'.
            """)

    @OptionGroup var bus: BusOptions
    @OptionGroup var shown: PlatformOptions
    @OptionGroup var contract: ContractOption

    @Option(help: "A name that tells it from other devices of the platform. (default: a new one)")
    var device: String?

    @Option(help: "The session, one user's app.")
    var subject = "default"

    @Option(help: "A command that opens each URL at once, its last argument. (default: o runs $BROWSER or xdg-open)")
    var open: String?

    @Option(help: "How many seconds a line that is piped in may wait.")
    var timeout: UInt32 = 30

    func run() async throws {
        let (platform, flow) = try shown.read()
        let process = ServiceProcess(
            "device", receives: DeviceSession.receives(with: flow), sends: DeviceSession.sends(with: flow),
            logLevel: .warning)
        let identity = DeviceIdentity(
            platform: platform, device: device ?? "\(platform)-\(process.instance)", subject: subject,
            source: process.source)
        var options = ServiceOptions()
        options.contract = contract
        if !contract.isAsked { options.bus = try bus.location().address }
        let opener = open.flatMap(URLOpener.init)
        try await process.run(options) { process in
            let terminal = TerminalDevice(
                identity, bus: process.bus, busAddress: process.busAddress, terminal: .standard,
                timeout: .seconds(timeout), flow: flow, opener: opener, logger: process.logger)
            return [terminal]
        }
    }
}
