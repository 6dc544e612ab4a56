internal import BusChecker
internal import Consuming
package import EventBus
package import Logging

/// A member of a durable group: the result of each value is one event that names it.
package enum ConsumerRole {
    /// - Throws: ``BusError`` with code `fenced` when another member has taken over from an exclusive one; what the history
    ///   throws.
    package static func run(
        group: String, mode: ConsumerMember.Mode, on bus: any EventBus, history: HistoryLog, logger: Logger
    ) async throws {
        while true {
            do {
                try await bus.consume(as: group, Probe.filters, mode: mode) { message in
                    guard let value = try Probe.value(in: message) else { return [] }
                    try history.write([.handled(value)])
                    return [
                        try Envelope(
                            ProbeResult(group: group, input: "\(value)"), source: bus.source, causedBy: message)
                    ]
                }
            } catch let error as BusError where [.epoch, .journal].contains(error.code) {
                // Another journal, or one that cannot be written now: the next claim says where to go on.
                logger.warning("claiming again", metadata: ["code": "\(error.code.rawValue)", "error": "\(error)"])
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}
