public import EventBus

extension DomainEvent {
    /// A system event: the device was asked to open this URL in the app.
    public struct DeepLinkReceived: EventMessage {
        public var url: String

        public init(url: String) {
            self.url = url
        }
    }
}
