package import Consuming
package import Contracts
internal import EventBus
package import Support

/// Runs a timer for each screen that requests one, until the screen is dismissed.
package enum TimerService {
    /// - Parameters:
    ///   - interval: The time between two ticks.
    ///   - clock: Measures the interval.
    package static func handlers(
        every interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()
    ) -> Handlers {
        Handlers("timer-service")
            .work(recordedBy: Document.Timer.self, of: .screen) { _, context in
                // After a kill, the service continues from the ticks in the document.
                let instance = context.cause.attributes.instance ?? ""
                let former = try await context.document(Document.Timer.self, key: instance)
                return former ?? Document.Timer(instance: instance, ticks: 0)
            } work: { _, context in
                let instance = context.cause.attributes.instance ?? ""
                while var timer = try await context.document(Document.Timer.self, key: instance) {
                    try await clock.sleep(for: interval)
                    timer.ticks += 1
                    try await context.publish(timer)
                }
                return []
            }
    }
}

extension Command {
    /// Starts the timer of the screen that sends the command.
    package struct TimerRequested: CommandMessage {
        package init() {}
    }
}

extension Document {
    /// The ticks of a screen's timer.
    package struct Timer: DocumentMessage {
        package var instance: String
        @BoundedCount package var ticks: Int

        package init(instance: String, ticks: Int) {
            self.instance = instance
            self.ticks = ticks
        }

        package var key: String? { instance }
    }
}

extension Document.Timer: WorkRecord {
    /// A timer runs until its screen is dismissed.
    package var unfinished: Command.TimerRequested? { Command.TimerRequested() }

    package static var discardsReplaced: Bool { false }
}
