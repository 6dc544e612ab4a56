internal import Contracts
package import EventBus

/// What a recorded message is to those who are told the story again.
package enum ReplayRole: Hashable, Sendable {
    /// It came from outside of navigation: from a view, a service or a clock.
    case input
    /// A coordinator or the error notifier said it of what it had heard, and says it again.
    case result
    /// It tells of a process that is no more.
    case past

    /// Those who say again what they said of the same inputs.
    private static let reproducing: Set = ["navigation-coordinator", "error-notifier"]

    package init(of message: Envelope) {
        let process = message.attributes.source.prefix { $0 != "/" }
        if message.type == Document.Presence.type {
            self = .past
        } else if Self.reproducing.contains(String(process)), Self.answers(message) {
            self = .result
        } else {
            self = .input
        }
    }

    /// What such a process says when time has passed is an input: a replay needs no clock.
    private static func answers(_ message: Envelope) -> Bool {
        if message.type.kind == .document { return true }
        return message.attributes.causationID != nil && message.type != DomainEvent.GuardDeadlinePassed.type
    }
}

extension Envelope {
    /// Whether its id derives from its cause's, as those of coordinators do: told again, it has the same one.
    var hasDerivedID: Bool {
        // A long cause's id is shortened, never below this.
        attributes.causationID.map { id.hasPrefix($0.prefix(48)) } ?? false
    }
}
