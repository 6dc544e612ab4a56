/// Which messages an app has, which fields they carry, and which services send and receive them: what a flow cannot know of
/// itself, so that a review may find what does not fit.
public struct MessageCatalogue: Hashable, Sendable {
    /// The fields of each message, by type; nil where it may have any.
    public let fields: [String: Set<String>?]
    /// The app's services, by name. What leads from screen to screen is none of them.
    public let services: [String: Service]

    /// What the messages of one service are.
    public struct Service: Hashable, Sendable {
        /// The types that it handles.
        public var receives: Set<String>
        /// The events and errors that tell what came of it.
        public var outcomes: Set<String>

        /// Lists a service's messages.
        public init(receives: Set<String> = [], outcomes: Set<String> = []) {
            self.receives = receives
            self.outcomes = outcomes
        }
    }

    /// Lists messages with their fields, and services; without any services nothing is said about who serves what.
    public init(_ fields: [String: Set<String>?], services: [String: Service] = [:]) {
        self.fields = fields
        self.services = services
    }
}
