package import Contracts
import EventBus

extension Command {
    package struct Greet: CommandMessage {
        package var name: String

        package init(name: String) {
            self.name = name
        }
    }

    package struct Wave: CommandMessage {
        package init() {}
    }
}

extension DomainEvent {
    package struct Greeted: EventMessage {
        package var name: String

        package init(name: String) {
            self.name = name
        }
    }
}

extension Query {
    package struct Salutation: QueryMessage {
        package struct Answer: Codable, Sendable {
            package var text: String

            package init(text: String) {
                self.text = text
            }
        }

        package var name: String

        package init(name: String) {
            self.name = name
        }
    }
}
