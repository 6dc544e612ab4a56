public import Support

extension Flow {
    /// Something that a rule does.
    ///
    /// `push`, `pop`, `popToRoot` and `replacePath` work on the front path: the topmost presentation's, or else the
    /// selected tab's or the root's. Of a split root, `push` and `pop` may name another column.
    ///
    /// Strings in arguments, URLs, alerts and commands' data may be templates. They hold places that are filled in from
    /// what was before the rule applied: `${data.FIELD}` from the message, `${arguments.NAME}` from the screen in front,
    /// `${screens.SCREEN.NAME}` from the frontmost instance of that screen. One that cannot be filled in fails the rule.
    public enum Action: Hashable, Sendable {
        /// Starts over with another root; path and presentations are dismissed.
        case setRoot(Destination, container: Layout? = nil)
        /// Puts a screen on the path.
        case push(Destination, column: String? = nil)
        /// Begins a child flow, with its first screen on the path.
        case pushFlow(String, arguments: [String: JSONValue] = [:], column: String? = nil)
        /// Takes screens off the path: so many, or all above a screen.
        case pop(Extent, column: String? = nil)
        /// Takes all screens off the path.
        case popToRoot
        /// Makes these screens the path, as new instances.
        case replacePath([Destination])
        /// Presents a screen over the front layer.
        case present(Destination, as: PresentationStyle, options: PresentationOptions = PresentationOptions())
        /// Begins a child flow, with its first screen presented over the front layer.
        case presentFlow(
            String,
            arguments: [String: JSONValue] = [:],
            as: PresentationStyle,
            options: PresentationOptions = PresentationOptions()
        )
        /// Dismisses the presentation of a screen and what it presents; nil means the topmost.
        case dismiss(String?)
        /// Dismisses everything that is presented.
        case dismissAll
        /// Selects a tab of the root.
        case selectTab(String)
        /// Shows a screen in a column of a split root, in place of the stack that was there.
        case show(Destination, column: String)
        /// Asks the device to open a URL.
        case openURL(String)
        /// Sends a command.
        case send(String, data: JSONValue = .object([:]))
        /// Ends the run of the child flow with a result, which those who began it hear of as `flow.finished`.
        case finish([String: JSONValue] = [:])
        /// Ends the run of the child flow without one; they hear of it as `flow.abandoned`.
        case abandon

        /// Takes the topmost screen off the path.
        public static var pop: Action { .pop(1) }
    }

    /// How much of a path is taken off: `2` are so many screens, `"list"` is all above the topmost such screen, which
    /// may also be the one that the path begins above.
    public enum Extent: Hashable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
        /// So many screens.
        case count(Int)
        /// All above this screen.
        case to(String)

        /// So many screens.
        public init(integerLiteral count: Int) { self = .count(count) }

        /// All above this screen.
        public init(stringLiteral screen: String) { self = .to(screen) }
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
        case tabs([Tab])
    }

    /// A tab of a new root; a screen's name alone stands for a tab of the same name.
    public struct Tab: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The tab's name.
        public let name: String
        /// The screen that its stack begins with.
        public let destination: Destination

        /// Names a tab and its first screen.
        public static func tab(_ name: String, _ destination: Destination) -> Tab {
            Tab(name: name, destination: destination)
        }

        /// Names a tab after a screen that takes no arguments.
        public init(stringLiteral name: String) {
            self.init(name: name, destination: .screen(name))
        }

        init(name: String, destination: Destination) {
            self.name = name
            self.destination = destination
        }
    }

    /// The kinds of actions, as a flow's file names them.
    public enum ActionName: String, Hashable, Sendable, CaseIterable {
        case setRoot
        case push
        case pop
        case popToRoot
        case replacePath
        case present
        case dismiss
        case dismissAll
        case selectTab
        case show
        case openURL
        case send
        case finish
        case abandon
    }
}

extension Flow.Action {
    /// Which kind of action this is.
    public var name: Flow.ActionName {
        switch self {
        case .setRoot: .setRoot
        case .push, .pushFlow: .push
        case .pop: .pop
        case .popToRoot: .popToRoot
        case .replacePath: .replacePath
        case .present, .presentFlow: .present
        case .dismiss: .dismiss
        case .dismissAll: .dismissAll
        case .selectTab: .selectTab
        case .show: .show
        case .openURL: .openURL
        case .send: .send
        case .finish: .finish
        case .abandon: .abandon
        }
    }
}
