import ArgumentParser
import WebDevice

@main
struct WebGatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web-gateway", abstract: "Serves a page with the screens, messages and processes of a bus.",
        discussion: GatewayOptions.discussion)

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        try await options.run("web-gateway")
    }
}
