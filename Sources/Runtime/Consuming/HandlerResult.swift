internal import Contracts
public import EventBus
public import Foundation

// The instructions that a handler may return beside messages. Their names are written without a type.

extension HandlerResult where Self == LaterCommand {
    /// Sends a command at a time, or at once if the time has passed. Until then a `document.ScheduledCommand` records it,
    /// so the command is sent once, whatever process ends meanwhile:
    ///
    ///     return [DomainEvent.BrewBegan(seconds: 180), .later(Command.BrewElapsed(end: end), at: end)]
    ///
    /// The handler declares the command in `sends`. The time is in the years 0 to 9999. A call of a handler schedules at
    /// most 16 commands, and a session has at most 64 of each consumer; otherwise the message is given up. Work and
    /// `whenGivenUp` cannot schedule commands or take them back. If the bus refuses a command that is due, the error
    /// `<service>.refused` is published instead.
    /// - Parameter id: distinguishes the scheduled commands of this consumer and session. A command with the same id
    ///   replaces the former one. By default it is the name of the command.
    public static func later<C: CommandMessage>(_ command: C, at time: Date, id: String = C.name) -> LaterCommand {
        LaterCommand(command: command, time: .at(time), id: id)
    }

    /// Sends a command some time after ``MessageContext/time``, see ``later(_:at:id:)``.
    public static func later<C: CommandMessage>(
        _ command: C, after delay: Duration, id: String = C.name
    ) -> LaterCommand {
        LaterCommand(command: command, time: .after(delay), id: id)
    }
}

extension HandlerResult where Self == Withdrawal {
    /// Withdraws the session's document of a type and key.
    public static func withdrawn<D: DocumentMessage>(_ type: D.Type, key: String? = nil) -> Withdrawal {
        Withdrawal(type: D.type, key: .document(key))
    }

    /// Takes a command back that was to be sent later. Has no effect if it has been sent.
    /// - Parameter id: the id with which it was scheduled.
    public static func withdrawn<C: CommandMessage>(_ type: C.Type, id: String = C.name) -> Withdrawal {
        Withdrawal(type: Document.ScheduledCommand.type, key: .timer(id))
    }
}

/// The withdrawal of a document, or of a command that was to be sent later.
public struct Withdrawal: HandlerResult {
    enum Key: Sendable {
        case document(String?)
        case timer(String)
    }

    let type: MessageType
    let key: Key

    func envelope(of consumer: String, source: String, causedBy cause: Envelope) -> Envelope {
        let key =
            switch key {
            case .document(let key): key
            case .timer(let id): Document.ScheduledCommand.key(consumer, id)
            }
        return .withdrawal(type, key: key, source: source, causedBy: cause.attributes)
    }
}

extension Date {
    /// The date after a duration.
    public static func + (date: Date, duration: Duration) -> Date { date + duration / .seconds(1) }
}
