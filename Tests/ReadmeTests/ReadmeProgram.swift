import Consuming
import Contracts
import EventBus
import Logging
import Navigation
import Support
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

@Test("an order leads to a cup of the same kind")
func order() async throws {
    let bus = EventBus.inMemory(source: "test")
    var machine = Machine(flow: try coffeeFlow())
    async let _ = HandlerService(barista, bus: bus, logger: Logger(label: "barista")).run()
    try await bus.send(Command.CoffeeOrdered(kind: "lungo"))
    let served = try await bus.withSubscription(to: [.type(DomainEvent.CoffeeServed.self)], from: .beginning) {
        try await $0.first
    }
    _ = machine.handle(try #require(served.flatMap(Machine.Input.init)))
    #expect(machine.state.top.screen == "cup")
    #expect(machine.state.top.arguments == ["kind": "lungo"])
}
