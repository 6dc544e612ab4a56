internal import ArgumentParser
internal import Scaffold

struct NewScreenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "screen",
        abstract: "Writes a screen into a flow, with a rule that leads to it, and a test of that.",
        discussion: """
            segue new screen loyalty --on command.LoyaltyWanted
            segue new screen receipt --on command.ReceiptWanted --from cup --flow flow.yaml

            'device --flow flow.yaml' shows it at once.
            """)

    @OptionGroup var options: NewOptions

    @Argument(help: "Its name, such as loyalty.")
    var name: String

    @Option(help: ArgumentHelp("The command that leads to it; made if it is not there.", valueName: "type"))
    var on: String

    @Option(help: ArgumentHelp("The screen where that is sent. (default: the flow's start)", valueName: "screen"))
    var from: String?

    @Option(help: ArgumentHelp("The flow, from the package's folder.", valueName: "file"))
    var flow = "flow.yaml"

    func run() async throws {
        let package = try options.package()
        let template = try ScreenTemplate(name, on: MessageName(on), from: from)
        try await options.write(template.scaffold(in: package, flow: flow), to: package)
    }
}
