internal import BusChecker
package import EventBus

/// Reads all values from the journal's beginning and writes down each with its offset, until it is asked to end.
package enum SubscriberRole {
    /// - Throws: ``BusError``; what the history throws.
    package static func run(on bus: any EventBus, history: HistoryLog) async throws {
        try await bus.withSubscription(to: Probe.filters, from: .beginning) { messages in
            try history.write([.live])
            for try await message in messages {
                guard let value = try Probe.value(in: message), let offset = message.position?.offset else { continue }
                let stream = Probe.stream(of: message)
                try history.write([.delivered(.init(offset: offset, stream: stream, value: value))])
            }
        }
    }
}
