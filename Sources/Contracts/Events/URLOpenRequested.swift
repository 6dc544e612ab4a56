public import EventBus

extension DomainEvent {
    /// The device where the story began should open this URL.
    public struct URLOpenRequested: EventMessage {
        public var url: String

        public init(url: String) {
            self.url = url
        }
    }
}
