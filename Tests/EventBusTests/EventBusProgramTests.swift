import EventBus
import Testing

struct GuestArrived: EventMessage { var name: String }

/// Two processes on one bus: the door publishes an event, and the host reads it from the journal.
func firstGuest() async throws -> String {
    let hub = InMemoryHub()
    let door = EventBus.inMemory(source: "door/1", hub: hub)
    let host = EventBus.inMemory(source: "host/1", hub: hub)
    try await door.publish(GuestArrived(name: "Ada"))
    return try await host.withSubscription(to: [.type(GuestArrived.self)], from: .beginning) { messages in
        for try await message in messages { return try message.decode(GuestArrived.self).name }
        throw CancellationError()
    }
}

@Suite("Program of the page of EventBus")
struct EventBusProgramTests {
    @Test("The host receives what the door has published")
    func guest() async throws {
        #expect(try await firstGuest() == "Ada")
    }
}
