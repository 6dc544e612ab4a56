/// What the health checks of a service's present run have shown.
package struct ServiceHealth: Sendable, Codable, Equatable {
    package enum State: String, Sendable, Codable {
        /// No check has succeeded yet, and too few have failed.
        case starting
        case healthy
        case unhealthy
    }

    package internal(set) var state = State.starting
    /// Failed checks since the last that succeeded; those of the start period do not count.
    package internal(set) var failures = 0
    /// What the last check that failed had to say.
    package internal(set) var reason: String?
}
