import ArgumentParser
import ServiceRuntime
import ThreeScreens

@main
struct TimerServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timer-service",
        abstract: "Counts ticks until a screen is dismissed, for config/flows/examples/three-screens.yaml.",
        discussion: "timer-service --bus ipc:///tmp/bus --interval 500")

    @OptionGroup var options: ServiceOptions

    @Option(help: "The time between two ticks in milliseconds; 0 counts as 1.")
    var interval: UInt32 = 1000

    static func main() async { await runProgram() }

    func run() async throws {
        let interval = Duration.milliseconds(max(interval, 1))
        try await ServiceProgram(TimerService.handlers(every: interval)).run(options)
    }
}
