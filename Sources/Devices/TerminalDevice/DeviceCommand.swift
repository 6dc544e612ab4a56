package import ArgumentParser
internal import ServiceRuntime

package struct DeviceCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Shows the screens of a running flow in a terminal.",
        discussion: DeviceOptions.discussion)

    @OptionGroup var options: DeviceOptions

    package init() {}

    package func run() async throws {
        try await options.run("device")
    }
}
