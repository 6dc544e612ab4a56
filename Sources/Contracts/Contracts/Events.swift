public import EventBus

/// The domain events; each is a struct inside, on the wire `event.Name`.
public enum DomainEvent {}

extension DomainEvent {
    /// A system event: a device is attached and ready to show something.
    public struct LaunchFinished: EventMessage {
        public init() {}
    }

    /// A system event: the device was asked to open this URL in the app.
    public struct DeepLinkReceived: EventMessage {
        public var url: String

        public init(url: String) {
            self.url = url
        }
    }

    /// The device where the story began should open this URL.
    public struct URLOpenRequested: EventMessage {
        public var url: String

        public init(url: String) {
            self.url = url
        }
    }

    /// A screen is gone; work that was done for this instance, and no other, may stop.
    public struct ScreenDismissed: EventMessage {
        public var instance: String
        public var screen: String

        public init(instance: String, screen: String) {
            self.instance = instance
            self.screen = screen
        }
    }

    /// A rule of a flow has waited long enough for the answer to its guard.
    public struct GuardDeadlinePassed: EventMessage {
        public var attempt: String

        public init(attempt: String) {
            self.attempt = attempt
        }
    }

    /// A message came too late or made no sense, and was not acted upon.
    public struct MessageDiscarded: EventMessage {
        public var messageID: String
        public var reason: String

        public init(messageID: String, reason: String) {
            self.messageID = messageID
            self.reason = reason
        }
    }
}
