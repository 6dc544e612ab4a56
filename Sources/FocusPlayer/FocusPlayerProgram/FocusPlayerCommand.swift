package import ArgumentParser
internal import InProcess
internal import Presentation
internal import ServiceRuntime
internal import TerminalDevice
internal import WebGatewayProgram

// The options are those of the subcommands: an option of a command would take its value from the line of a subcommand
// that has the same option.
package struct FocusPlayerCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "focus-player", abstract: "Shows the focus player's screens in a terminal, or on a page.",
        discussion: """
            focus-player --platform ios     on the bus in SEGUE_BUS, or of the project of this folder
            focus-player --in-process --platform ios --simulator

            'focus-player terminal --help' lists the options.
            """,
        subcommands: [TerminalCommand.self, WebCommand.self], defaultSubcommand: TerminalCommand.self)

    package init() {}
}

struct TerminalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "terminal", abstract: "Shows the focus player's screens in a terminal.",
        discussion: """
            \(DeviceOptions.discussion)

            The word 'terminal' is optional.
            """)

    @OptionGroup var options: DeviceOptions
    @OptionGroup var process: InProcessOptions

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
