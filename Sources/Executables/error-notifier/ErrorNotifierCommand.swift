import ArgumentParser
import ErrorNotification
import ServiceRuntime

@main
struct ErrorNotifierCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "error-notifier", abstract: "Shows the errors of every session as banners, one after another.")

    @OptionGroup var options: ServiceOptions

    func run() async throws {
        try await ServiceProcess("error-notifier", receives: ErrorNotifier.receives, sends: ErrorNotifier.sends)
            .run(options) { process in
                [ErrorNotifier(bus: process.bus, logger: process.logger, metrics: process.metrics)]
            }
    }
}
