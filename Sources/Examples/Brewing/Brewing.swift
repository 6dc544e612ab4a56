package import Consuming
package import Contracts
internal import EventBus
package import Foundation
package import Support

/// Brews tea: tells when it is ready, even if every process is killed meanwhile.
package enum Brewing {
    package static let handlers = Handlers("brewer")
        .on(
            Command.BrewStarted.self,
            sends: Document.Brew.self, DomainEvent.BrewBegan.self, Command.BrewElapsed.self
        ) { command, context in
            guard (1...3600).contains(command.seconds) else {
                throw ApplicationError(
                    code: "brew.seconds", message: "\(command.seconds) seconds are not possible.",
                    recovery: "Choose 1 to 3600 seconds.")
            }
            let end = context.time + .seconds(command.seconds)
            return [
                Document.Brew(seconds: command.seconds, end: end), DomainEvent.BrewBegan(seconds: command.seconds),
                .later(Command.BrewElapsed(end: end), at: end),
            ]
        }
        .on(Command.BrewStopped.self, sends: Document.Brew.self, DomainEvent.BrewEnded.self) { _, _ in
            [.withdrawn(Command.BrewElapsed.self), .withdrawn(Document.Brew.self), DomainEvent.BrewEnded()]
        }
        .on(Command.BrewElapsed.self, sends: Document.Brew.self, DomainEvent.BrewFinished.self) { command, context in
            // The person may have begun another brew after this command was sent, and before it is handled.
            guard let brew = try await context.document(Document.Brew.self), brew.end == command.end else { return [] }
            return [.withdrawn(Document.Brew.self), DomainEvent.BrewFinished(seconds: brew.seconds)]
        }
}

extension Command {
    package struct BrewStarted: CommandMessage {
        @BoundedCount package var seconds: Int

        package init(seconds: Int) {
            self.seconds = seconds
        }
    }

    package struct BrewStopped: CommandMessage {
        package init() {}
    }

    /// The service sends this command to itself when the time is over.
    package struct BrewElapsed: CommandMessage {
        /// The end of the brew that this command is about.
        package var end: Date

        package init(end: Date) {
            self.end = end
        }
    }
}

extension DomainEvent {
    package struct BrewBegan: EventMessage {
        @BoundedCount package var seconds: Int

        package init(seconds: Int) {
            self.seconds = seconds
        }
    }

    /// The tea is ready.
    package struct BrewFinished: EventMessage {
        @BoundedCount package var seconds: Int

        package init(seconds: Int) {
            self.seconds = seconds
        }
    }

    /// The person has stopped the brewing.
    package struct BrewEnded: EventMessage {
        package init() {}
    }
}

extension Document {
    /// The tea that is brewing. A view shows the time until `end`.
    package struct Brew: DocumentMessage {
        package static var line: String? { "${seconds} s" }
        @BoundedCount package var seconds: Int
        package var end: Date

        package init(seconds: Int, end: Date) {
            self.seconds = seconds
            self.end = end
        }
    }
}
