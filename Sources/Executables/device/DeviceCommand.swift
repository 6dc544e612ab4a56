import ArgumentParser
import ServiceRuntime
import TerminalDevice

@main
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Shows the screens of a running flow in a terminal.",
        discussion: DeviceOptions.discussion)

    @OptionGroup var options: DeviceOptions

    static func main() async { await runProgram() }

    func run() async throws {
        try await options.run("device")
    }
}
