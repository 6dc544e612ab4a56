package import ArgumentParser
internal import ServiceRuntime

package struct ErrorNotifierCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "error-notifier", abstract: "Shows the errors of every session as banners, one after another.")

    @OptionGroup var options: ServiceOptions

    package init() {}

    package func run() async throws {
        try await ServiceProgram.errorNotifier.run(options)
    }
}
