/// What must be true of another service before this one starts.
package struct Dependency: Sendable, Hashable {
    /// The conditions of the compose specification, by their names there.
    package enum Condition: String, Sendable, CaseIterable {
        case started = "service_started"
        case healthy = "service_healthy"
        case completed = "service_completed_successfully"
    }

    package var service: String
    package var condition: Condition
    /// If not, the service starts as well when the condition cannot come true any more, with a warning, and without
    /// the other one when that is not part of the run.
    package var isRequired: Bool
    /// Whether this service is restarted when the other one is, on somebody's request.
    package var restarts: Bool

    package init(
        on service: String, condition: Condition = .started, isRequired: Bool = true, restarts: Bool = false
    ) {
        self.service = service
        self.condition = condition
        self.isRequired = isRequired
        self.restarts = restarts
    }
}
