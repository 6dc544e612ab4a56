import Contracts
import EventBus

extension DomainEvent {
    /// The coffee is on the counter.
    package struct CoffeeServed: EventMessage {
        package var kind: String

        package init(kind: String) {
            self.kind = kind
        }
    }
}
