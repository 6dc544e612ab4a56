public import EventBus

extension Document {
    /// A process that is on the bus.
    public struct Presence: DocumentMessage, Hashable {
        public var name: String
        public var version: String
        public var instance: String
        public var pid: Int32
        /// The message types it listens to.
        public var receives: [String]
        /// The message types it publishes.
        public var sends: [String]
        /// How many messages its durable consumers have handled since its start.
        public var handled: Int
        /// How many of them they have given up.
        public var failed: Int
        /// How many offsets they are behind the newest message that concerns them; 0 when they are up to date.
        public var lag: UInt64
        /// The durable consumers that it runs, in alphabetical order; `nil` if the process does not tell.
        public var consumers: [String]?

        public init(
            name: String, version: String, instance: String, pid: Int32, receives: [String], sends: [String],
            handled: Int = 0, failed: Int = 0, lag: UInt64 = 0, consumers: [String]? = nil
        ) {
            self.name = name
            self.version = version
            self.instance = instance
            self.pid = pid
            self.receives = receives
            self.sends = sends
            self.handled = handled
            self.failed = failed
            self.lag = lag
            self.consumers = consumers
        }

        /// A process that does not count has no figures.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                name: try container.decode(String.self, forKey: .name),
                version: try container.decode(String.self, forKey: .version),
                instance: try container.decode(String.self, forKey: .instance),
                pid: try container.decode(Int32.self, forKey: .pid),
                receives: try container.decode([String].self, forKey: .receives),
                sends: try container.decode([String].self, forKey: .sends),
                handled: try container.decodeIfPresent(Int.self, forKey: .handled) ?? 0,
                failed: try container.decodeIfPresent(Int.self, forKey: .failed) ?? 0,
                lag: try container.decodeIfPresent(UInt64.self, forKey: .lag) ?? 0,
                consumers: try container.decodeIfPresent([String].self, forKey: .consumers))
        }

        public var key: String? { instance }

        /// Whether the process runs a durable consumer. One that tells of none, or has not begun yet, is taken to run the
        /// consumer of its own name.
        public func runs(consumer: String) -> Bool {
            guard let consumers, !consumers.isEmpty else { return name == consumer }
            return consumers.contains(consumer)
        }
    }
}
