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

let greeter = Handlers("greeter")
    .on(Command.GuestArrived.self, sends: DomainEvent.GuestWelcomed.self) { command, _ in
        [DomainEvent.GuestWelcomed(text: "Welcome, \(command.name)!")]
    }

@main
struct Greeter: ServiceCommand {
    static let service = ServiceProgram(greeter)
}
