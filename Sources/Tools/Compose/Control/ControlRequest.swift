/// What another process may ask of a supervisor.
///
/// Services are named as the stack does, or one of their instances by its own name.
package enum ControlRequest: Sendable, Codable, Equatable {
    case up(UpRequest)
    /// Also starts what they depend on.
    case start(services: [String])
    /// All, when none is named.
    case stop(services: [String], grace: Duration?)
    /// - followed: whether the dependents that say `restart: true` are restarted as well.
    case restart(services: [String], followed: Bool, grace: Duration?)
    /// How many instances of each service there shall be.
    case scale([String: Int])
    /// As a stop, after which they are no part of the project.
    case remove(services: [String], grace: Duration?)
    case kill(services: [String], signal: Int32)
}
