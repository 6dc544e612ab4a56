internal import BusChecker
package import EventBus

/// Reads all values from the journal's beginning and writes down each with its offset, until it is asked to end. That it is
/// live it writes down again for each other journal, in which it begins anew.
package enum SubscriberRole {
    /// - Throws: ``BusError``; what the history throws.
    package static func run(on bus: any EventBus, history: HistoryLog) async throws {
        try await bus.withSubscription(to: Probe.filters, from: .beginning) { messages in
            try history.write([.live])
            var epoch: UInt64?
            for try await message in messages {
                guard let value = try Probe.value(in: message), let position = message.position else { continue }
                if let epoch, epoch != position.epoch { try history.write([.live]) }
                epoch = position.epoch
                let stream = Probe.stream(of: message)
                try history.write([.delivered(.init(offset: position.offset, stream: stream, value: value))])
            }
        }
    }
}
