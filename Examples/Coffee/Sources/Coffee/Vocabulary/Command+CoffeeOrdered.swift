import Contracts
import EventBus

extension Command {
    /// A guest orders a coffee.
    package struct CoffeeOrdered: CommandMessage {
        package var kind: String

        package init(kind: String) {
            self.kind = kind
        }
    }
}
