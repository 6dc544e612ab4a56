import ArgumentParser
import PlatformPrograms
import ServiceRuntime

@main
struct ErrorNotifierCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "error-notifier", abstract: "Shows the errors of every session as banners, one after another.")

    @OptionGroup var options: ServiceOptions

    static func main() async { await runProgram() }

    func run() async throws {
        try await ServiceProgram.errorNotifier.run(options)
    }
}
