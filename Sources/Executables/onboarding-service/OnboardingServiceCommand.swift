import Onboarding
import ServiceRuntime

@main
struct OnboardingServiceCommand: ServiceCommand {
    static let service = ServiceProgram(OnboardingService.handlers)
    static let abstract = "Validates and saves a new user's input, for config/flows/examples/onboarding.yaml."
}
