import ArgumentParser
import ServiceRuntime
import WebDevice

@main
struct WebGatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web-gateway", abstract: "Serves a page with the screens, messages and processes of a bus.",
        discussion: GatewayOptions.discussion)

    @OptionGroup var options: GatewayOptions

    static func main() async { await runProgram() }

    func run() async throws {
        try await options.run("web-gateway")
    }
}
