internal import BusChecker
internal import Contracts
internal import EventBus
internal import Support

/// A command with one value, which sets a timer or takes it back.
struct ProbeTimerChanged: CommandMessage {
    let value: String
    /// The id of the timer in its session.
    let id: String
    /// In milliseconds. Nil to take the timer back.
    let delay: Int?

    /// The command for a value. Publishers change each of their timers twice in turn: the second command takes it back or
    /// sets it again. By then the timer may have elapsed.
    init(_ value: Value) {
        self.value = "\(value)"
        // The publishers have lanes with the same numbers, and so timers with the same ids.
        id = String(value.publisher.suffix(1))
        let number = value.sequence / Self.interval
        delay = number % 4 == 3 ? nil : 50 + number * 112 % 451
    }

    /// The session of the timer that a value changes.
    static func session(of value: Value) -> String { "s\(value.sequence / (2 * interval) % 5)" }

    /// One in so many values changes a timer.
    static let interval = 16
}

/// The command that is published when a timer elapses.
struct ProbeTimerElapsed: CommandMessage {
    /// The value that set the timer.
    let value: String
}

extension TimerEntry {
    static let filters: [MessageFilter] = [
        .type(ProbeTimerChanged.self), .type(ProbeTimerElapsed.self), .type(Document.ScheduledCommand.self),
    ]

    /// The message as an entry for the checker. Nil if it is not about a timer.
    /// - Throws: ``BusError`` if the data does not match the type of the message.
    init?(_ message: Envelope) throws {
        guard let offset = message.position?.offset, let content = try Content(message) else { return nil }
        self.init(
            id: message.id, cause: message.attributes.causationID, offset: offset,
            time: Int(message.attributes.time.milliseconds), content: content)
    }
}

extension TimerEntry.Content {
    fileprivate init?(_ message: Envelope) throws {
        let name = "\(message.subject) \(message.attributes.key ?? "")"
        switch message.type {
        case ProbeTimerChanged.type: self = .change
        case ProbeTimerElapsed.type: self = .elapsed
        case Document.ScheduledCommand.type where message.isTombstone: self = .removal(name: name)
        case Document.ScheduledCommand.type:
            self = .set(name: name, due: Int(try message.decode(Document.ScheduledCommand.self).at.milliseconds))
        default: return nil
        }
    }
}
