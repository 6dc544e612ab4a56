import ArgumentParser
import Device
import Presentation
import TerminalDevice

@main
struct FocusPlayerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "focus-player", abstract: "Shows the focus player's screens in a terminal.",
        discussion: DeviceOptions.discussion)

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        try await options.run("focus-player", screens: .focusPlayer)
    }
}
