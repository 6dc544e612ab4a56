import ArgumentParser
import Consuming
import Onboarding
import ServiceRuntime

@main
struct OnboardingServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "onboarding-service",
        abstract: "Validates and saves a new user's input, for config/flows/examples/onboarding.yaml.")

    @OptionGroup var options: ServiceOptions

    static func main() async { await runProgram() }

    func run() async throws {
        let process = ServiceProcess(
            "onboarding-service", receives: OnboardingService.receives, sends: OnboardingService.sends)
        try await process.run(options) { process in
            [OnboardingService.routes(of: MessageConsumer("onboarding-service", in: process))]
        }
    }
}
