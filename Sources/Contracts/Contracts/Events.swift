public import EventBus
internal import Navigation
public import Support

/// The namespace for events. Each nested struct is one event; its type on the wire is `event.Name`. The events of this
/// module are Segue's own.
public enum DomainEvent {}

extension DomainEvent {
    /// A device has started and can show the screens of the session.
    public struct LaunchFinished: EventMessage {
        public init() {}
    }

    /// A device was asked to open this URL in the app.
    public struct DeepLinkReceived: EventMessage {
        public var url: String

        public init(url: String) {
            self.url = url
        }
    }

    /// The session is over: each service withdraws the documents that it has published for the session, and forgets
    /// the session. A later ``LaunchFinished`` or ``DeepLinkReceived`` begins a new session of the same name.
    public struct SessionEnded: EventMessage {
        public init() {}
    }

    /// The device that the message's origin names should open this URL. If the origin names no device, every device of
    /// the platform should open it.
    public struct URLOpenRequested: EventMessage {
        public var url: String

        public init(url: String) {
            self.url = url
        }
    }

    /// A screen instance was dismissed.
    public struct ScreenDismissed: EventMessage {
        public var instance: String
        public var screen: String

        public init(instance: String, screen: String) {
            self.instance = instance
            self.screen = screen
        }
    }

    /// The deadline of an attempt has passed: the answer to the guard of a rule has not come in time.
    public struct GuardDeadlinePassed: EventMessage {
        public var attempt: String

        public init(attempt: String) {
            self.attempt = attempt
        }
    }

    /// A message was discarded, for example because it came too late or was invalid.
    public struct MessageDiscarded: EventMessage {
        public var messageID: String
        public var reason: String

        public init(messageID: String, reason: String) {
            self.messageID = messageID
            self.reason = reason
        }

        /// A command that had expired when it arrived.
        package init(expired commandID: String) {
            self.init(messageID: commandID, reason: Machine.expiredReason)
        }

        /// True for a command that had expired when it arrived. The reason for a command that expired while it waited
        /// for a guard begins with the command's type.
        package var hasExpired: Bool { reason == Machine.expiredReason }
    }

    /// A request to every process on the bus to report its metrics. Sent as a transient message.
    public struct MetricsRequested: EventMessage {
        public init() {}
    }

    /// The metrics of a process, which answer a ``MetricsRequested``. Sent as a transient message.
    public struct MetricsReported: EventMessage, Hashable {
        /// The process, as in its ``Document/Presence``.
        public var instance: String
        /// The number of messages that the process's durable consumers have handled since the process started.
        @BoundedCount public var handled: Int
        /// The number of messages that the process's durable consumers have given up since the process started.
        @BoundedCount public var failed: Int
        /// The largest lag of the process's durable consumers: the number of messages for a consumer after its
        /// position. 0 if all consumers have handled all their messages. 10,000 means 10,000 or more.
        @BoundedCount public var lag: UInt64

        public init(instance: String, handled: Int, failed: Int, lag: UInt64) {
            self.instance = instance
            self.handled = handled
            self.failed = failed
            self.lag = lag
        }

        /// Decodes the metrics.
        /// - Throws: `DecodingError`, also if the instance could be more than a name where it is written.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                instance: try container.decodeServiceName(forKey: .instance),
                handled: try container.decode(BoundedCount<Int>.self, forKey: .handled).wrappedValue,
                failed: try container.decode(BoundedCount<Int>.self, forKey: .failed).wrappedValue,
                lag: try container.decode(BoundedCount<UInt64>.self, forKey: .lag).wrappedValue)
        }
    }
}
