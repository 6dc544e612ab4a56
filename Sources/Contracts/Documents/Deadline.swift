public import EventBus

extension Document {
    /// A time limit that a coordinator waits for: a screen that leaves, or a guard that has not been answered.
    ///
    /// It is published with the state that waits, and withdrawn with the state that does not wait any more. A coordinator that
    /// takes over finds in these documents what it has to wait for.
    public struct Deadline: DocumentMessage, Hashable {
        public enum Object: String, Codable, Sendable, CaseIterable {
            /// A screen that is dismissed, and that a view may still show; `id` is its instance.
            case screen
            /// A rule that waits for the answer to its guard; `id` is that of the attempt.
            case attempt
        }

        public var platform: String
        public var object: Object
        public var id: String
        /// The time from the publishing of this document, or from the start of a coordinator that takes over, in milliseconds.
        public var delay: Int64

        public init(platform: String, object: Object, id: String, delay: Int64) {
            self.platform = platform
            self.object = object
            self.id = id
            self.delay = delay
        }

        public var key: String? { Self.key(platform, object, id) }

        package static func key(_ platform: String, _ object: Object, _ id: String) -> String {
            "\(platform).\(object.rawValue).\(id)"
        }
    }
}
