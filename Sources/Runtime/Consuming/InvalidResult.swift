internal import Contracts
internal import EventBus

/// A result that a handler must not return. The message is given up, because another attempt would return it again.
struct InvalidResult: Error, CustomStringConvertible {
    /// The predicate of a sentence about the handler.
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension DeclaredMessages {
    /// The types that a handler may send without a declaration. A command that was to be sent later can be withdrawn by
    /// any handler.
    private static let undeclared: Set<MessageType> = [
        ApplicationError.type, DomainEvent.MessageDiscarded.type, Document.ScheduledCommand.type,
    ]

    /// Checks that the handler of a message, or its work, declares a type that it sends.
    /// - Throws: ``InvalidResult``.
    func check(_ type: MessageType, causedBy message: Envelope) throws {
        guard contains(type) || Self.undeclared.contains(type) else {
            throw InvalidResult("sends \(type), which its handler of \(message.type) does not declare")
        }
    }
}

extension [any HandlerResult] {
    /// Checks that there are not too many scheduled commands, and none at all unless the results are those of a handler:
    /// timers change in the order of the session's messages, which neither work nor `whenGivenUp` follows.
    /// - Throws: ``InvalidResult``.
    func checkTimers(mayChange: Bool) throws {
        guard mayChange || !contains(where: \.changesTimers) else {
            throw InvalidResult("schedules a command or takes one back, which only the results of a handler can do")
        }
        guard count(where: { $0 is LaterCommand }) <= LaterCommand.maximumInResult else {
            throw InvalidResult("schedules more than \(LaterCommand.maximumInResult) commands at once")
        }
    }
}

extension HandlerResult {
    /// True if the result schedules a command or takes one back.
    fileprivate var changesTimers: Bool {
        if self is LaterCommand { return true }
        if let withdrawal = self as? Withdrawal, case .timer = withdrawal.key { return true }
        return false
    }
}
