/// The time since which a broker or a steward has received everything that was sent to it, and the rule by which a
/// client is silent.
///
/// A client whose last message is older than ``lease`` is assumed to have ended. None is, while the listener itself may
/// have missed messages: at its start, and after any absence.
package struct ListeningPeriod: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// The time after which a silent client loses its leased documents, its memberships and the queries that it serves.
    package static let lease: Duration = .seconds(5)

    /// The time after which a client or a steward reports that it still waits for the servers: two leases.
    package static let patience = lease * 2

    /// The start of the listener, or the end of its last absence.
    package private(set) var start: Instant
    private var lastCheck: Instant
    private let absence: Duration

    /// - Parameter absence: The time between two calls of ``check(at:)`` after which the listener counts as absent.
    package init(absence: Duration, at now: Instant) {
        self.absence = absence
        (start, lastCheck) = (now, now)
    }

    /// Starts again, because messages may have been missed.
    package mutating func begin(at now: Instant) {
        (start, lastCheck) = (now, now)
    }

    /// Records that the listener checks for silent clients.
    /// - Returns: False if it was absent, so that all leases start again.
    package mutating func check(at now: Instant) -> Bool {
        guard now - lastCheck <= absence else {
            begin(at: now)
            return false
        }
        lastCheck = now
        return true
    }

    /// True if a client is silent whose last message came at a time.
    package func isSilent(since lastSeen: Instant, at now: Instant) -> Bool { now - max(lastSeen, start) > Self.lease }
}
