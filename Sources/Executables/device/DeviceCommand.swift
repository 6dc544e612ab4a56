import ArgumentParser
import TerminalDevice

@main
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "The screens of any flow that runs, in a terminal.",
        discussion: DeviceOptions.discussion)

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        try await options.run("device")
    }
}
