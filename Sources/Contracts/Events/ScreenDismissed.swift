public import EventBus

extension DomainEvent {
    /// A screen is gone; work that was done for this instance, and no other, may stop.
    public struct ScreenDismissed: EventMessage {
        public var instance: String
        public var screen: String

        public init(instance: String, screen: String) {
            self.instance = instance
            self.screen = screen
        }
    }
}
