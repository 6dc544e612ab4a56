import ArgumentParser
import Coffee
import Consuming
import ServiceRuntime

@main
struct BaristaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "barista", abstract: "Makes coffee.")

    @OptionGroup var options: ServiceOptions

    static func main() async { await runProgram() }

    func run() async throws {
        try await ServiceProcess(
            "barista", receives: Barista.receives, sends: Barista.sends
        ).run(options) { process in
            [Barista.routes(of: MessageConsumer("barista", in: process))]
        }
    }
}
