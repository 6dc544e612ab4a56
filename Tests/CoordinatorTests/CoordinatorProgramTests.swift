import Contracts
import Coordinator
import EventBus
import Logging
import Navigation
import Support
import Testing

/// Runs the navigation of a counter until the task is cancelled.
func navigateCounter(on bus: EventBus) async throws {
    let flow = try Flow("coffee", version: 1, platform: "counter", start: "menu") {
        Flow.Screen("menu")
        Flow.Screen("cup")
        Flow.Transition(on: "event.CoffeeServed", do: [.push(.screen("cup", ["kind": "${data.kind}"]))])
    }
    try await Coordinator(flow: flow, bus: bus, logger: Logger(label: "coordinator")).run()
}

@Suite("Program of the page of Coordinator")
struct CoordinatorProgramTests {
    @Test("The coordinator publishes the first screen")
    func menu() async throws {
        let hub = InMemoryHub()
        let view = EventBus.inMemory(source: "device/1", hub: hub)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await navigateCounter(on: .inMemory(source: "coordinator/1", hub: hub)) }
            let filter = MessageFilter.type(Document.NavigationState.self)
            let screen = try await view.withSubscription(to: [filter], from: .retained) { messages in
                for try await message in messages {
                    return try message.decode(Document.NavigationState.self).snapshot.state.top.screen
                }
                throw CancellationError()
            }
            #expect(screen == "menu")
            group.cancelAll()
            while await group.nextResult() != nil {}
        }
    }
}
