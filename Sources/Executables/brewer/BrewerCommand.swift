import Brewing
import ServiceRuntime

@main
struct BrewerCommand: ServiceCommand {
    static let service = ServiceProgram(Brewing.handlers)
    static let abstract = "Brews tea and tells when it is ready, for config/flows/examples/brew.yaml."
}
