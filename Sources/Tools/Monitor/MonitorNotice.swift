package import EventBus

/// What a monitor tells beside the messages that it shows: somebody who watches wants to know what came to nobody.
package enum MonitorNotice: Hashable, Sendable {
    case lost(SubscriptionNotice)
    /// `event.MessageDiscarded`, where the selection leaves it out.
    case discarded(id: String, reason: String)
}

extension MonitorNotice: CustomStringConvertible {
    /// One line, for a person.
    package var description: String {
        switch self {
        case .lost(.recovered(let type, let count)):
            "\(count) \(type) got lost on the way, and came from the journal"
        case .lost(.removed(let type, let offset)):
            "\(type) up to offset \(offset) are missing: retention removed them before they were read"
        case .discarded(let id, let reason): "message \(id) was discarded: \(reason)".printable
        }
    }
}
