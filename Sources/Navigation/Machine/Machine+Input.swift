extension Machine {
    /// A message as a machine sees it.
    public struct Input: Codable, Hashable, Sendable {
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
    public struct Attributes: Codable, Hashable, Sendable {
        /// The platform of the view, such as `ios`.
        public var platform: String?
        /// The device that the view is on.
        public var device: String?
        /// The instance of the screen that sent the message.
        public var instance: String?
        /// The identifier of the message that directly caused this one.
        public var causationID: String?
        /// When it was sent, in milliseconds since 1970: the only clock that a machine knows.
        public var time: Int?
        /// When it is too old to be acted upon, in milliseconds since 1970.
        public var expiry: Int?

        /// Makes attributes.
        public init(
            platform: String? = nil,
            device: String? = nil,
            instance: String? = nil,
            causationID: String? = nil,
            time: Int? = nil,
            expiry: Int? = nil
        ) {
            self.platform = platform
            self.device = device
            self.instance = instance
            self.causationID = causationID
            self.time = time
            self.expiry = expiry
        }
    }
}
