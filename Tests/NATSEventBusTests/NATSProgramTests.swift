import EventBus
import Logging
import NATSEventBus
import NATSTestSupport
import TestSupport
import Testing

struct LightSwitched: EventMessage { var isOn: Bool }

/// Publishes an event on the bus of an app on NATS, such as `nats://localhost/SHOP`.
func switchLight(at address: String) async throws {
    let bus = try EventBus.nats(address: address, source: "switch/1", logger: Logger(label: "switch"))
    try await bus.whileOpen {
        _ = try await bus.publish(LightSwitched(isOn: true))
    }
}

@Suite("Program of the page of NATSEventBus", .sharedServer, .timeLimit(.minutes(2)))
struct NATSProgramTests {
    @Test func `The journal on NATS contains the event`() async throws {
        let server = try await TestBus.make()
        try await switchLight(at: server.address)
        let bus = try EventBus.nats(address: server.address, source: "lamp/1", logger: .silent)
        let isOn = try await bus.whileOpen {
            try await bus.withSubscription(to: [.type(LightSwitched.self)], from: .beginning) { messages in
                for try await message in messages { return try message.decode(LightSwitched.self).isOn }
                throw CancellationError()
            }
        }
        #expect(isOn)
    }
}
