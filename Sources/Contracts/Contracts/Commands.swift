public import EventBus
public import Support

/// The namespace for commands. Each nested struct is one command; its type on the wire is `command.Name`. The commands
/// of this module are Segue's own.
public enum Command {}

extension Command {
    /// A view has displayed the navigation state with this revision.
    public struct ScreenDisplayed: CommandMessage {
        @BoundedCount public var revision: Int

        public init(revision: Int) {
            self.revision = revision
        }
    }

    /// The user began to swipe back from this screen instance. The state does not change yet.
    public struct BackStarted: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }

    /// The user cancelled the swipe back; the screen instance stays.
    public struct BackCancelled: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }

    /// The user has gone back from this screen instance, and the view no longer shows it.
    public struct BackCompleted: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }

    /// The user dismissed this presented screen instance, such as by swiping a sheet away or clicking beside a popover.
    public struct PresentationDismissed: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }

    /// The user pressed a button of an alert or a dialog.
    public struct AlertAnswered: CommandMessage {
        public var instance: String
        public var button: String

        public init(instance: String, button: String) {
            self.instance = instance
            self.button = button
        }
    }

    /// The user selected a tab.
    public struct TabSelected: CommandMessage {
        public var instance: String
        public var tab: String

        public init(instance: String, tab: String) {
            self.instance = instance
            self.tab = tab
        }
    }

    /// The view has finished animating this screen instance out, or the time for it is over.
    public struct ScreenGone: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }

    /// A program requests an action of the flow language, such as a push.
    public struct NavigationRequested: CommandMessage {
        public var action: JSONValue

        public init(action: JSONValue) {
            self.action = action
        }
    }

    /// An app passes data of a named kind; the flow decides how to show it.
    public struct DataDispatched: CommandMessage {
        public var name: String
        public var data: JSONValue

        public init(name: String, data: JSONValue) {
            self.name = name
            self.data = data
        }
    }

    /// The user closed the banner of this error, or the display time of the banner is over.
    public struct ErrorDismissed: CommandMessage {
        /// The id of the message that carried the error.
        public var errorID: String

        public init(errorID: String) {
            self.errorID = errorID
        }
    }
}
