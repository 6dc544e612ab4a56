public import EventBus

extension DomainEvent {
    /// A rule of a flow has waited long enough for the answer to its guard.
    public struct GuardDeadlinePassed: EventMessage {
        public var attempt: String

        public init(attempt: String) {
            self.attempt = attempt
        }
    }
}
