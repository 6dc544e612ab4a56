extension Flow {
    /// Something that a rule does.
    ///
    /// `push`, `pop`, `popToRoot` and `replacePath` work on the front layer: the topmost presentation's path, or the
    /// root's when nothing is presented.
    ///
    /// Strings in arguments, URLs, alerts and commands' data may be templates. They hold places that are filled in from
    /// what was before the rule applied: `${data.FIELD}` from the message, `${arguments.NAME}` from the screen in front,
    /// `${screens.SCREEN.NAME}` from the frontmost instance of that screen. One that cannot be filled in fails the rule.
    public enum Action: Hashable, Sendable {
        /// Starts over with another root; path and presentations are dismissed.
        case setRoot(Destination, container: Layout? = nil)
        /// Puts a screen on the path.
        case push(Destination)
        /// Takes the topmost screen off the path.
        case pop
        /// Takes all screens off the path.
        case popToRoot
        /// Makes these screens the path, as new instances.
        case replacePath([Destination])
        /// Presents a screen over the front layer.
        case present(Destination, as: PresentationStyle, options: PresentationOptions = PresentationOptions())
        /// Dismisses the presentation of a screen and what it presents; nil means the topmost.
        case dismiss(String?)
        /// Dismisses everything that is presented.
        case dismissAll
        /// Shows a screen in a column of a split root, in place of the one that was there.
        case show(Destination, column: String)
        /// Asks the device to open a URL.
        case openURL(String)
        /// Sends a command.
        case send(String, data: JSONValue = .object([:]))
    }

    /// A screen with the arguments that its instance gets; strings among them may be templates.
    public struct Destination: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The screen's name.
        public let screen: String
        /// Its arguments.
        public let arguments: [String: JSONValue]

        /// Names a screen and its arguments.
        public static func screen(_ name: String, _ arguments: [String: JSONValue] = [:]) -> Destination {
            Destination(screen: name, arguments: arguments)
        }

        /// Names a screen that takes no arguments.
        public init(stringLiteral name: String) {
            self.init(screen: name, arguments: [:])
        }

        init(screen: String, arguments: [String: JSONValue]) {
            self.screen = screen
            self.arguments = arguments
        }
    }

    /// How a new root arranges what stands beside it.
    public enum Layout: Hashable, Sendable {
        /// Columns, which `show` fills.
        case split
        /// Tabs, the first of which is selected.
        case tabs([String])
    }
}
