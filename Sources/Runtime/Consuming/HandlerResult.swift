internal import Contracts
public import EventBus
public import Foundation
internal import Support

// The instructions that a handler may return beside messages. Their names are written without a type.

extension HandlerResult where Self == LaterCommand {
    /// Sends a command at a time, or at once if the time has passed. Until then a `document.ScheduledCommand` records it,
    /// so the command is sent once, whatever process ends meanwhile:
    ///
    ///     return [DomainEvent.BrewBegan(seconds: 180), .later(Command.BrewElapsed(end: end), at: end)]
    ///
    /// The handler declares the command in `sends`. The time is in the years 0 to 9999. A call of a handler schedules at
    /// most 16 commands, and a session has at most 64 of each consumer; otherwise the message is given up. Work and
    /// `whenGivenUp` cannot schedule commands or take them back.
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

/// A command to send later.
public struct LaterCommand: HandlerResult {
    enum Time: Sendable {
        case at(Date)
        case after(Duration)
    }

    let command: any CommandMessage
    let time: Time
    let id: String

    /// The maximum number of commands that one call of a handler may schedule.
    static let maximumInResult = 16

    /// The document that records the command.
    /// - Throws: `InvalidResult` if the id or the time cannot be recorded, or the command cannot be encoded.
    func document(of consumer: String, now: Date) throws -> Document.ScheduledCommand {
        let time =
            switch time {
            case .at(let time): time
            case .after(let delay): now + delay
            }
        guard Timestamp.canHold(time) else { throw InvalidResult("schedules a command outside the years 0 to 9999") }
        let type = Swift.type(of: command).type
        let data = try JSONValue(parsing: try Envelope(command, source: consumer).data)
        return Document.ScheduledCommand(
            at: time, command: Document.ScheduledCommand.Content(type: type, data: data), consumer: consumer, id: id)
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

extension HandlerResult {
    /// True if the result schedules a command or takes one back. Such results are handled in the order of the session's
    /// messages, so only handlers may return them: not work that runs beside them, nor `whenGivenUp`.
    var changesTimers: Bool {
        if self is LaterCommand { return true }
        if let withdrawal = self as? Withdrawal, case .timer = withdrawal.key { return true }
        return false
    }
}

/// A result that a handler must not return. The message is given up, because another attempt would return it again.
struct InvalidResult: Error, CustomStringConvertible {
    /// The predicate of a sentence about the handler.
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension Date {
    /// The date after a duration.
    public static func + (date: Date, duration: Duration) -> Date { date + duration / .seconds(1) }
}
