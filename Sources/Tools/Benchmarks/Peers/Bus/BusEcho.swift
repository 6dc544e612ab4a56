internal import EventBus
internal import ZeroMQEventBus

/// The handler of the round trip: a typed command in, a typed event out.
struct BusEcho {
    let address: String

    func run(_ control: Control) async throws {
        try await BusPeer.withBus(at: address) { bus in
            try await bus.withSubscription(to: [.type(BenchmarkRequest.self)], from: .now) { messages in
                try await control.report()
                for try await message in messages {
                    let request = try message.decode(BenchmarkRequest.self)
                    try await bus.publish(BenchmarkEvent(number: request.number), causedBy: message)
                }
            }
        }
    }
}
