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

    package init(on service: String, condition: Condition = .started) {
        self.service = service
        self.condition = condition
    }
}
