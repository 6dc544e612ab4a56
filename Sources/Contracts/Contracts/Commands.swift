public import EventBus
public import Support

/// The commands; each is a struct inside, on the wire `command.Name`.
public enum Command {}

extension Command {
    /// A view shows the state with this revision.
    public struct ScreenDisplayed: CommandMessage {
        public var revision: Int

        public init(revision: Int) {
            self.revision = revision
        }
    }

    /// A person began to swipe back from this instance; nothing has moved yet.
    public struct BackStarted: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }

    /// The swipe back was let go of; the instance stays.
    public struct BackCancelled: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }

    /// The view has gone back from this instance.
    public struct BackCompleted: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }

    /// A person dismissed this presented instance: swiped the sheet away, clicked beside the popover.
    public struct PresentationDismissed: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }

    /// A person pressed a button of an alert.
    public struct AlertAnswered: CommandMessage {
        public var instance: String
        public var button: String

        public init(instance: String, button: String) {
            self.instance = instance
            self.button = button
        }
    }

    /// A person selected a tab.
    public struct TabSelected: CommandMessage {
        public var instance: String
        public var tab: String

        public init(instance: String, tab: String) {
            self.instance = instance
            self.tab = tab
        }
    }

    /// The view has finished animating this instance out.
    public struct ScreenGone: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }

    /// The imperative style: do this action of the flow language.
    public struct NavigationRequested: CommandMessage {
        public var action: JSONValue

        public init(action: JSONValue) {
            self.action = action
        }
    }

    /// The data-driven style: here is something to show; the flow decides how.
    public struct DataDispatched: CommandMessage {
        public var name: String
        public var data: JSONValue

        public init(name: String, data: JSONValue) {
            self.name = name
            self.data = data
        }
    }

    /// A person closed the banner of this error.
    public struct ErrorDismissed: CommandMessage {
        /// The id of the message that carried the error.
        public var errorID: String

        public init(errorID: String) {
            self.errorID = errorID
        }
    }
}
