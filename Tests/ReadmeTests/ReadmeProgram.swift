import Consuming
import Contracts
import EventBus
import Navigation
import SegueTestSupport
import Testing

extension Command { struct CoffeeOrdered: CommandMessage { var kind: String } }
extension DomainEvent { struct CoffeeServed: EventMessage { var kind: String } }

/// The rules that lead from screen to screen.
func coffeeFlow() throws -> Flow {
    try Flow("coffee", version: 1, platform: "counter", start: "menu") {
        Flow.Screen("menu", sends: ["command.CoffeeOrdered"])
        Flow.Screen("cup")
        Flow.Transition(on: "event.CoffeeServed", do: [.push(.screen("cup", ["kind": "${data.kind}"]))])
    }
}

/// The service that makes the coffee. It knows nothing of screens.
let barista = Handlers("barista")
    .on(Command.CoffeeOrdered.self, sends: DomainEvent.CoffeeServed.self) { order, _ in
        [DomainEvent.CoffeeServed(kind: order.kind)]
    }

@Test("An order leads to a cup of the same kind")
func order() async throws {
    let app = try await TestApp(flow: coffeeFlow(), barista)
    try await app.send(Command.CoffeeOrdered(kind: "lungo"))
    #expect(try await app.screen == "cup(kind: lungo)")
}
