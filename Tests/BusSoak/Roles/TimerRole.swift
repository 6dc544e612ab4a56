internal import BusChecker
internal import Consuming
package import EventBus
package import Logging

/// A service with handlers, which shares its durable consumer with the others. It sets timers and takes them back.
package enum TimerRole {
    /// - Throws: ``BusError``; the errors of the history.
    package static func run(on bus: EventBus, history: HistoryLog, logger: Logger) async throws {
        let handlers = Handlers("timers")
            .on(ProbeTimerChanged.self, sends: ProbeTimerElapsed.self) { command, _ in
                if let value = Value(command.value) { try history.write([.handled(value)]) }
                guard let delay = command.delay else { return [.withdrawn(ProbeTimerElapsed.self, id: command.id)] }
                let elapsed = ProbeTimerElapsed(value: command.value)
                return [.later(elapsed, after: .milliseconds(delay), id: command.id)]
            }
        try await HandlerService(handlers, bus: bus, logger: logger).run()
    }
}
