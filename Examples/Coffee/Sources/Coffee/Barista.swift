import Consuming
import Contracts
import EventBus

/// Makes coffee. The service does not depend on screens: the flow decides which screen is shown next.
package enum Barista {
    static let kinds = ["espresso", "lungo", "cappuccino"]

    package static let handlers = Handlers("barista")
        .on(Command.CoffeeOrdered.self, sends: DomainEvent.CoffeeServed.self) { order, _ in [try serve(order)] }

    /// Serves a coffee.
    /// - Throws: `ApplicationError` if the coffee is not on the menu. The error notifier shows this error over every
    ///   screen.
    package static func serve(_ order: Command.CoffeeOrdered) throws -> DomainEvent.CoffeeServed {
        guard kinds.contains(order.kind) else {
            throw ApplicationError(
                code: "coffee.unknown", message: "There is no \(order.kind) here.",
                recovery: "Order one of: \(kinds.joined(separator: ", ")).")
        }
        return DomainEvent.CoffeeServed(kind: order.kind)
    }
}
