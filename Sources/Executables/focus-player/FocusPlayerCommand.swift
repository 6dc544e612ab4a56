import ArgumentParser
import InProcess
import Presentation
import ServiceRuntime
import TerminalDevice
import WebDevice

@main
struct FocusPlayerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "focus-player", abstract: "Shows the focus player's screens in a terminal, or on a page.",
        discussion: DeviceOptions.discussion, subcommands: [WebCommand.self])

    @OptionGroup var options: DeviceOptions
    @OptionGroup var process: InProcessOptions

    static func main() async { await runProgram() }

    func run() async throws {
        if process.isAsked, !options.isContractAsked {
            try await process.run("focus-player", options, screens: .focusPlayer)
        } else {
            try await options.run("focus-player", screens: .focusPlayer)
        }
    }
}

struct WebCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Serves a page with the focus player's screens, and with the messages and processes of the bus.",
        discussion: GatewayOptions.discussion)

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        try await options.run("focus-player", screens: .focusPlayer)
    }
}
