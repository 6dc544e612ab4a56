internal import Contracts
package import EventBus
internal import Navigation

/// What a recorded message is to those who are told the story again.
package enum ReplayRole: Hashable, Sendable {
    /// It came from outside of navigation: from a view, a service or a clock.
    case input
    /// A coordinator or the error notifier said it of what it had heard, and says it again.
    case result
    /// It tells of a process that is no more.
    case past

    package init(of message: Envelope) {
        switch message.type {
        case Document.Presence.type, Document.ServiceContract.type, Document.Flow.type: self = .past
        case Document.NavigationState.type: self = .result
        // It is said when time has passed: a replay needs no clock.
        case DomainEvent.GuardDeadlinePassed.type: self = .input
        default:
            self =
                message.hasDerivedID || Self.isOfErrorNotifier(message) || Self.isExpiryOfCoordinator(message)
                ? .result : .input
        }
    }

    /// A coordinator that is told an expired command again says so again. A service that said so may not take part.
    private static func isExpiryOfCoordinator(_ message: Envelope) -> Bool {
        message.attributes.source.hasPrefix("navigation-coordinator/") && message.isExpiryError
    }

    /// Its ids are drawn, and it hides a banner by its own clock, without a cause.
    private static func isOfErrorNotifier(_ message: Envelope) -> Bool {
        message.attributes.source.hasPrefix("error-notifier/")
            && (message.type.kind == .document || message.attributes.causationID != nil)
    }
}

extension Envelope {
    /// Whether its id derives from its cause's, as those of coordinators do, in whichever process: told again, it has the
    /// same one.
    var hasDerivedID: Bool {
        attributes.causationID.map { DerivedID.isDerived(id, from: $0) } ?? false
    }
}
