import ArgumentParser
import Consuming
import Contracts
import EventBus
import ServiceRuntime

extension Command {
    struct GuestArrived: CommandMessage {
        var name: String
    }
}

extension DomainEvent {
    struct GuestWelcomed: EventMessage {
        var text: String
    }
}

@main
struct Greeter: AsyncParsableCommand {
    @OptionGroup var options: ServiceOptions

    static func main() async { await runProgram() }

    func run() async throws {
        try await ServiceProcess(
            "greeter", receives: [Command.GuestArrived.self], sends: [DomainEvent.GuestWelcomed.self]
        ).run(options) { process in
            [
                MessageConsumer("greeter", in: process)
                    .on(Command.GuestArrived.self) { command, _ in
                        [DomainEvent.GuestWelcomed(text: "Welcome, \(command.name)!")]
                    }
            ]
        }
    }
}
