extension Machine {
    /// A message as a machine sees it.
    public struct Input: Hashable, Sendable {
        /// The message's identifier.
        public var id: String
        /// Its type, such as `command.PlaylistSelected`.
        public var type: String
        /// The session that it belongs to.
        public var subject: String
        /// What it carries.
        public var data: JSONValue
        /// Where it came from.
        public var attributes: Attributes

        /// Makes an input.
        public init(
            id: String,
            type: String,
            subject: String = "default",
            data: JSONValue = .object([:]),
            attributes: Attributes = Attributes()
        ) {
            self.id = id
            self.type = type
            self.subject = subject
            self.data = data
            self.attributes = attributes
        }
    }

    /// When a message was sent, and where it came from: a service's or a tool's message is from nowhere in particular.
    public struct Attributes: Hashable, Sendable {
        /// The platform of the view, such as `ios`.
        public var platform: String?
        /// The device that the view is on.
        public var device: String?
        /// The instance of the screen that sent the message.
        public var instance: String?
        /// When the message was sent, in milliseconds since 1970: the only clock that a machine knows.
        public var time: Int

        /// Makes attributes.
        public init(platform: String? = nil, device: String? = nil, instance: String? = nil, time: Int = 0) {
            self.platform = platform
            self.device = device
            self.instance = instance
            self.time = time
        }
    }
}
