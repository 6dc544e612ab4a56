public import EventBus

extension DomainEvent {
    /// A message came too late or made no sense, and was not acted upon.
    public struct MessageDiscarded: EventMessage {
        public var messageID: String
        public var reason: String

        public init(messageID: String, reason: String) {
            self.messageID = messageID
            self.reason = reason
        }
    }
}
