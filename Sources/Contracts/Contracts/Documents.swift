public import EventBus
public import Navigation
public import Support

/// The documents; each is a struct inside, on the wire `document.Name`.
public enum Document {}

extension Document {
    /// Where one platform of a session is. Its JSON is that of the snapshot.
    public struct NavigationState: DocumentMessage {
        public var snapshot: NavigationSnapshot

        public init(_ snapshot: NavigationSnapshot) {
            self.snapshot = snapshot
        }

        public var key: String? { snapshot.platform }

        public init(from decoder: any Decoder) throws {
            snapshot = try NavigationSnapshot(from: decoder)
        }

        public func encode(to encoder: any Encoder) throws {
            try snapshot.encode(to: encoder)
        }
    }

    /// The flow that a platform's coordinator follows, as text: a view reads from it what its screens are called and which
    /// commands they may send.
    ///
    /// The coordinator publishes it when it starts, leased: it goes with the process. A platform has one flow in all sessions,
    /// so the subject is always `default`.
    public struct Flow: DocumentMessage, Hashable {
        public var platform: String
        public var name: String
        /// The version that the authors of the flow gave it.
        public var version: Int
        /// The hash that every snapshot of this flow carries.
        public var hash: String
        /// YAML: the file that the coordinator has read, or the export of a flow that is built in Swift.
        public var source: String

        public init(platform: String, name: String, version: Int, hash: String, source: String) {
            self.platform = platform
            self.name = name
            self.version = version
            self.hash = hash
            self.source = source
        }

        public var key: String? { platform }
    }

    /// The error that lies over whatever screen is shown; none when `error` is nil.
    public struct ErrorBanner: DocumentMessage {
        /// The id of the message that carried the error; what ``Command/ErrorDismissed`` names.
        public var errorID: String?
        public var error: ApplicationError?
        /// How many more wait behind this one.
        public var waiting: Int

        public init(errorID: String? = nil, error: ApplicationError? = nil, waiting: Int = 0) {
            self.errorID = errorID
            self.error = error
            self.waiting = waiting
        }
    }

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

    /// What a process receives and sends, and what that carries, as its own declarations in code say.
    ///
    /// It is what a service prints when it is started with `--contract`, and what it publishes once when it announces
    /// itself, as a document of its instance.
    public struct ServiceContract: DocumentMessage, Hashable {
        public var name: String
        public var version: String
        /// Which process; none where no process runs.
        public var instance: String?
        public var receives: [MessageContract]
        public var sends: [MessageContract]

        public init(
            name: String, version: String, instance: String? = nil, receives: [MessageContract],
            sends: [MessageContract]
        ) {
            self.name = name
            self.version = version
            self.instance = instance
            self.receives = receives
            self.sends = sends
        }

        public var key: String? { instance }
    }
}
