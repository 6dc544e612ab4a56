import Coffee
import ServiceRuntime

@main
struct BaristaCommand: ServiceCommand {
    static let service = ServiceProgram(Barista.handlers)
    static let abstract = "Makes coffee."
}
