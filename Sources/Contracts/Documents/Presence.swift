public import EventBus

extension Document {
    /// A process that is on the bus.
    public struct Presence: DocumentMessage {
        public var name: String
        public var version: String
        public var instance: String
        public var pid: Int32
        /// The message types it listens to.
        public var receives: [String]
        /// The message types it publishes.
        public var sends: [String]

        public init(name: String, version: String, instance: String, pid: Int32, receives: [String], sends: [String]) {
            self.name = name
            self.version = version
            self.instance = instance
            self.pid = pid
            self.receives = receives
            self.sends = sends
        }

        public var key: String? { instance }
    }
}
