import Contracts
import EventBus

extension Command {
    /// The guest has taken the cup.
    package struct CoffeeTaken: CommandMessage {
        package init() {}
    }
}
