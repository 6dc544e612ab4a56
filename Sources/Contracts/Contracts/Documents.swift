public import EventBus
public import Foundation
public import Navigation
public import Support

/// The namespace for documents. Each nested struct is one document; its type on the wire is `document.Name`. The
/// documents of this module are Segue's own.
public enum Document {}

extension Document {
    /// The navigation state of a session on one platform. The JSON of the document is the JSON of the snapshot.
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

    /// The flow that a platform's coordinator follows.
    ///
    /// The coordinator publishes the document with a lease when it starts, so the document is withdrawn after the
    /// coordinator's process has ended. All sessions of a platform share one flow, so the subject is always `default`.
    public struct Flow: DocumentMessage, Hashable {
        public var platform: String
        public var name: String
        /// The version that the flow's authors set.
        @BoundedInteger public var version: Int
        /// The hash of the flow. A snapshot that was made with this flow contains the same hash.
        public var hash: String
        /// The flow as YAML: the text of the file that the coordinator has read.
        public var source: String
        /// The file and line of each rule and link, such as `ios.yaml:36`, by the key that a snapshot has as its
        /// `rule`. Nil in the document of a coordinator that does not tell.
        public var rules: [String: String]?

        public init(
            platform: String, name: String, version: Int, hash: String, source: String, rules: [String: String]? = nil
        ) {
            self.platform = platform
            self.name = name
            self.version = version
            self.hash = hash
            self.source = source
            self.rules = rules
        }

        public var key: String? { platform }
    }

    /// The error that a view shows as a banner over the current screen. The view shows no banner if `error` is nil.
    public struct ErrorBanner: DocumentMessage {
        /// The id of the message that carried the error. ``Command/ErrorDismissed`` contains this id. Nil if there is
        /// no error.
        public var errorID: String?
        /// Nil if no banner is shown.
        public var error: ApplicationError?
        /// The number of errors that are shown after this error.
        @BoundedCount public var waiting: Int

        public init(errorID: String? = nil, error: ApplicationError? = nil, waiting: Int = 0) {
            self.errorID = errorID
            self.error = error
            self.waiting = waiting
        }
    }

    /// A durable timer: a command that a durable consumer publishes at a time.
    ///
    /// The document is published in one batch with the results of the handler that schedules the command. The batch that
    /// publishes the command withdraws the document.
    public struct ScheduledCommand: DocumentMessage, Hashable {
        /// The type and the data of the command.
        public struct Content: Codable, Hashable, Sendable {
            public var type: MessageType
            public var data: JSONValue

            public init(type: MessageType, data: JSONValue) {
                self.type = type
                self.data = data
            }
        }

        /// The time at which the command is published. If nobody can publish it then, it is published later.
        public var at: Date
        public var command: Content
        /// The durable consumer that publishes the command.
        public var consumer: String
        /// Distinguishes the timers of the consumer in a session.
        public var id: String

        public init(at: Date, command: Content, consumer: String, id: String) {
            self.at = at
            self.command = command
            self.consumer = consumer
            self.id = id
        }

        public var key: String? { Self.key(consumer, id) }

        package static func key(_ consumer: String, _ id: String) -> String { "\(consumer).\(id)" }
    }

    /// The maximum time for which a coordinator waits: for the view to remove a dismissed screen, or for the answer to
    /// the guard of a rule.
    ///
    /// The document is published together with the state that waits, and withdrawn together with the first state that
    /// no longer waits. A coordinator that starts reads these documents and starts the timers again.
    public struct Deadline: DocumentMessage, Hashable {
        public enum Object: String, Codable, Sendable, CaseIterable {
            /// A dismissed screen that a view may still show; `id` is the id of the screen instance.
            case screen
            /// A rule that waits for the answer to its guard, or for the time in its `after`; `id` is the id of the
            /// attempt or of the wait.
            case attempt
        }

        public var platform: String
        public var object: Object
        public var id: String
        /// The maximum time to wait, in milliseconds. It begins when this document is published, and again each time a
        /// coordinator starts. If the state still waits when the time is over, the coordinator sends
        /// `command.ScreenGone` for a screen, or `event.GuardDeadlinePassed` for an attempt.
        @BoundedCount public var delay: Int64

        public init(platform: String, object: Object, id: String, delay: Int64) {
            self.platform = platform
            self.object = object
            self.id = id
            self.delay = delay
        }

        public var key: String? { Self.key(platform: platform, object: object, id: id) }

        package static func key(platform: String, object: Object, id: String) -> String {
            "\(platform).\(object.rawValue).\(id)"
        }
    }

    /// A process that has announced itself on the bus. The document does not change while the process runs; a process
    /// reports its ``DomainEvent/MetricsReported`` when it is asked for them.
    public struct Presence: DocumentMessage, Hashable {
        public var name: String
        public var version: String
        public var instance: String
        public var pid: Int32
        /// The types of the messages that the process declares to receive.
        public var receives: [String]
        /// The types of the messages that the process declares to send.
        public var sends: [String]
        /// The durable consumers that the process can run. Nil for one consumer with the process's name.
        public var consumers: [String]?

        public init(
            name: String, version: String, instance: String, pid: Int32, receives: [String], sends: [String],
            consumers: [String]? = nil
        ) {
            self.name = name
            self.version = version
            self.instance = instance
            self.pid = pid
            self.receives = receives
            self.sends = sends
            self.consumers = consumers
        }

        /// Decodes a presence.
        /// - Throws: `DecodingError`, also if the name or the instance could be more than a name where it is written.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                name: try container.decodeServiceName(forKey: .name),
                version: try container.decode(String.self, forKey: .version),
                instance: try container.decodeServiceName(forKey: .instance),
                pid: try container.decode(Int32.self, forKey: .pid),
                receives: try container.decode([String].self, forKey: .receives),
                sends: try container.decode([String].self, forKey: .sends),
                consumers: try container.decodeIfPresent([String].self, forKey: .consumers))
        }

        public var key: String? { instance }

        /// Returns true if the process runs this durable consumer. The list of consumers of an older program is empty
        /// until it has started one.
        public func runs(consumer: String) -> Bool {
            guard let consumers, !consumers.isEmpty else { return name == consumer }
            return consumers.contains(consumer)
        }
    }

    /// The messages that a process receives and sends, with the schemas of their data, as its code declares them.
    ///
    /// A service that is started with `--contract` prints its contract. A service that announces itself on the bus
    /// publishes its contract as a document of its service instance.
    public struct ServiceContract: DocumentMessage, Hashable {
        public var name: String
        public var version: String
        /// The service instance. Nil if the contract was made without a running process.
        public var instance: String?
        public var receives: [MessageContract]
        public var sends: [MessageContract]
        /// The durable consumers that the service can run. Nil for one consumer with the service's name.
        public var consumers: [String]?
        /// The types of the messages that the handler of each type sends. Nil if the service does not declare them.
        public var handlers: [String: [String]]?

        public init(
            name: String, version: String, instance: String? = nil, receives: [MessageContract],
            sends: [MessageContract], consumers: [String]? = nil, handlers: [String: [String]]? = nil
        ) {
            self.name = name
            self.version = version
            self.instance = instance
            self.receives = receives
            self.sends = sends
            self.consumers = consumers
            self.handlers = handlers
        }

        /// Decodes a contract.
        /// - Throws: `DecodingError`, also if the name or the instance could be more than a name where it is written.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let hasInstance = try container.contains(.instance) && !container.decodeNil(forKey: .instance)
            self.init(
                name: try container.decodeServiceName(forKey: .name),
                version: try container.decode(String.self, forKey: .version),
                instance: hasInstance ? try container.decodeServiceName(forKey: .instance) : nil,
                receives: try container.decode([MessageContract].self, forKey: .receives),
                sends: try container.decode([MessageContract].self, forKey: .sends),
                consumers: try container.decodeIfPresent([String].self, forKey: .consumers),
                handlers: try container.decodeIfPresent([String: [String]].self, forKey: .handlers))
        }

        public var key: String? { instance }
    }
}
