import Contracts
import EventBus

extension Command {
    struct Greet: CommandMessage {
        var name: String
    }

    struct Wave: CommandMessage {}
}

extension DomainEvent {
    struct Greeted: EventMessage {
        var name: String
    }
}

extension Query {
    struct Salutation: QueryMessage {
        struct Answer: Codable, Sendable {
            var text: String
        }

        var name: String
    }
}
