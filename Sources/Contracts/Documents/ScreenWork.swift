public import EventBus
public import Navigation

extension Document {
    /// Work that a service does for a screen, until that is dismissed: the message that began it. A service that was
    /// killed takes it up from here.
    public struct ScreenWork: DocumentMessage {
        /// The durable consumer that does it.
        public var consumer: String
        /// Of the message that began it.
        public var attributes: Attributes
        public var data: JSONValue

        public init(consumer: String, attributes: Attributes, data: JSONValue) {
            self.consumer = consumer
            self.attributes = attributes
            self.data = data
        }

        public var key: String? { "\(consumer).\(attributes.id)" }
    }
}
