public import EventBus

extension DomainEvent {
    /// A system event: a device is attached and ready to show something.
    public struct LaunchFinished: EventMessage {
        public init() {}
    }
}
