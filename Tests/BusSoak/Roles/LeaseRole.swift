internal import BusChecker
package import EventBus

/// Holds a leased document until it is asked to end.
package enum LeaseRole {
    /// - Throws: ``BusError``; what the history throws.
    package static func run(name: String, on bus: any EventBus, history: HistoryLog) async throws {
        let lease = try Envelope(ProbeLease(holder: name), source: bus.source)
        try await bus.publish(Batch([lease], isLeased: true))
        try history.write([.live])
        try await Task.sleep(for: .seconds(86400))
    }
}
