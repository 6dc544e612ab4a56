public import EventBus

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
    }
}
