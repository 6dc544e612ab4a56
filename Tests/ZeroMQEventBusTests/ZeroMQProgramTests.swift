import EventBus
import Logging
import TestSupport
import Testing
import ZeroMQEventBus

struct LightSwitched: EventMessage { var isOn: Bool }

/// Publishes an event on the bus of the broker at an address, such as `ipc:///run/shop`.
func switchLight(at address: String) async throws {
    let bus = try EventBus.zeroMQ(address: address, source: "switch/1", logger: Logger(label: "switch"))
    try await bus.whileOpen {
        _ = try await bus.publish(LightSwitched(isOn: true))
    }
}

@Suite("Program of the page of ZeroMQEventBus")
struct ZeroMQProgramTests {
    @Test("The broker records the event", .timeLimit(.minutes(1)))
    func light() async throws {
        try await TestBroker.withDirectory { broker in
            try await broker.run {
                try await switchLight(at: broker.address)
                let bus = try EventBus.zeroMQ(address: broker.address, source: "lamp/1", logger: .silent)
                let isOn = try await bus.whileOpen {
                    try await bus.withSubscription(to: [.type(LightSwitched.self)], from: .beginning) { messages in
                        for try await message in messages { return try message.decode(LightSwitched.self).isOn }
                        throw CancellationError()
                    }
                }
                #expect(isOn)
            }
        }
    }
}
