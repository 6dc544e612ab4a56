package import Consuming
package import Contracts
package import EventBus
package import Support

/// Runs a timer for each screen that requests one, until the screen is dismissed.
package enum TimerService {
    package static let receives: [any Message.Type] = [Command.TimerRequested.self, DomainEvent.ScreenDismissed.self]
    package static let sends: [any Message.Type] = [
        Document.Timer.self, Document.ScreenWork.self, DomainEvent.MessageDiscarded.self, ApplicationError.self,
    ]

    /// - Parameters:
    ///   - work: The screen work to which the route is added.
    ///   - interval: The time between two ticks.
    ///   - clock: Measures the interval.
    package static func route(
        of work: ScreenWork, every interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()
    ) -> ScreenWork {
        work.on(Command.TimerRequested.self, withdrawing: [Document.Timer.type]) { _, context in
            guard let instance = context.cause.attributes.instance else { return }
            // After a kill, the service continues from the ticks in the document.
            let former = try await context.bus.document(
                Document.Timer.self, subject: context.cause.subject, key: instance)
            var timer = former ?? Document.Timer(instance: instance, ticks: 0)
            while true {
                try await context.publish(timer)
                try await clock.sleep(for: interval)
                timer.ticks += 1
            }
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
