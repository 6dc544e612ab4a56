package import ArgumentParser
internal import ServiceRuntime

package struct WebGatewayCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "web-gateway", abstract: "Serves a page with the screens, messages and processes of a bus.",
        discussion: GatewayOptions.discussion)

    @OptionGroup var options: GatewayOptions

    package init() {}

    package func run() async throws {
        try await options.run("web-gateway")
    }
}
