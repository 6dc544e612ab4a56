public import Support

extension Flow {
    /// An action of a rule.
    ///
    /// `push`, `pop`, `back`, `popToRoot` and `replacePath` change the front path, unless they name a stack or a
    /// screen. The front path is the path of the topmost presentation, otherwise of the selected tab, otherwise of the
    /// root. If an open screen sent the message, the front path is in the window of that screen. In a rule of a child
    /// flow, it is the frontmost path with a screen of the child flow.
    ///
    /// Strings in arguments, results, URLs, commands' data, and titles, messages and buttons of alerts may be templates
    /// with placeholders:
    /// - `${data.FIELD}`: a field of the message that the rule matched,
    /// - `${answer.FIELD}`: a field of the answer to the rule's guard,
    /// - `${sender.NAME}`: an argument of the open screen that sent the message,
    /// - `${arguments.NAME}`: an argument of that screen, or of the screen in front if no open screen sent the message,
    /// - `${screens.SCREEN.NAME}`: an argument of an open instance of the screen `SCREEN`.
    ///
    /// `${PATH:-TEXT}` has a default. `${PATH?}` leaves out the key that has it if there is no value, and so does any
    /// template that is the whole value of an optional argument or an optional field of a declared command. If another
    /// placeholder has no value, none of the rule's actions is taken.
    public enum Action: Hashable, Sendable {
        /// Replaces the root, and dismisses all open screens.
        case setRoot(Destination, container: Layout? = nil)
        /// Pushes a screen on the front path or on another stack.
        case push(Destination, on: Stack? = nil)
        /// Begins a child flow and pushes its first screen on the front path or on another stack.
        case pushFlow(String, arguments: [String: JSONValue] = [:], on: Stack? = nil)
        /// Pops screens from a path: a number of them, all above a screen, or a screen and all above it.
        case pop(Extent, column: String? = nil)
        /// Comes back to an open instance of the screen with the same arguments, and dismisses what lies above it;
        /// selects its tab if it is the first screen of another tab. If there is no such instance, pushes the screen on
        /// the front path. In a rule of a child flow, the first screen of the run stays open.
        case goTo(Destination)
        /// Goes back as a hardware key does: pops the topmost screen of the front path, otherwise dismisses the topmost
        /// presentation of the window, otherwise selects the tab that was selected before. Fails if the user cannot
        /// leave the screen or the presentation, and if there is nothing to go back to.
        case back
        /// Pops all screens from the path. In a rule of a child flow whose first screen is on the path, pops only the
        /// screens above it.
        case popToRoot
        /// Replaces the screens that `popToRoot` would pop with the given screens. Instances at the beginning of the
        /// path that have the given screens and arguments already are kept.
        case replacePath([Destination])
        /// Presents a screen over the others of its window, or in a new window.
        case present(Destination, as: PresentationStyle, options: PresentationOptions = PresentationOptions())
        /// Begins a child flow and presents its first screen.
        case presentFlow(
            String,
            arguments: [String: JSONValue] = [:],
            as: PresentationStyle,
            options: PresentationOptions = PresentationOptions()
        )
        /// Dismisses a presentation and everything that it presents; nil means the topmost presentation.
        case dismiss(Dismissed?)
        /// Dismisses all presentations.
        case dismissAll
        /// Selects a tab of the root.
        case selectTab(String)
        /// Shows a screen in a column of a split root, and dismisses the stack that was there.
        case show(Destination, column: String)
        /// Changes the named arguments of the sender if it is an instance of the screen, otherwise of the frontmost open
        /// instance. Its other arguments stay.
        case update(Destination)
        /// Opens a URL on the device where the message began.
        case openURL(String)
        /// Sends a command.
        case send(type: String, data: JSONValue = .object([:]))
        /// Ends the run of the child flow with a result, which the flow that began it receives as `flow.finished`.
        case finish(result: [String: JSONValue] = [:])
        /// Ends the run of the child flow without a result. The flow that began it receives `flow.abandoned`.
        case abandon
        /// Takes the action if it is possible in the state, and otherwise does nothing. The action cannot be `finish`,
        /// `abandon`, `send` or `openURL`.
        indirect case ifPossible(Action)

        /// Pops the topmost screen.
        public static var pop: Action { .pop(1) }

        /// Pops all screens above the topmost instance of this screen.
        public static func popTo(_ screen: String, column: String? = nil) -> Action {
            .pop(.to(screen), column: column)
        }

        /// Pushes a screen on the path of a column. If `column` is nil, the front path is used.
        public static func push(_ destination: Destination, column: String?) -> Action {
            .push(destination, on: column.map { .column($0) })
        }

        /// Begins a child flow and pushes its first screen on the path of a column. If `column` is nil, the front path
        /// is used.
        public static func pushFlow(_ flow: String, arguments: [String: JSONValue] = [:], column: String?) -> Action {
            .pushFlow(flow, arguments: arguments, on: column.map { .column($0) })
        }
    }

    /// The word in a flow file for the screen that sent the message. No screen may have this name.
    package static let senderWord = "sender"

    /// The stack on which a screen is pushed, if it is not the front path.
    public enum Stack: Hashable, Sendable {
        /// The column of a split root with this name.
        case column(String)
        /// The stack in which the screen lies that sent the message.
        case sender
    }

    /// The part of a path that is popped: `2` means two screens, `"list"` means the same as `.to("list")`.
    public enum Extent: Hashable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
        /// This number of screens.
        case count(Int)
        /// All screens above the topmost instance of this screen, which may also be the screen beneath the path, such
        /// as the root.
        case to(String)
        /// The topmost instance of this screen, and all screens above it.
        case from(String)
        /// The screen that sent the message, and all screens above it. The string literal is `"sender"`.
        case sender

        public init(integerLiteral count: Int) { self = .count(count) }

        public init(stringLiteral screen: String) { self = screen == Flow.senderWord ? .sender : .to(screen) }
    }

    /// The presentation that is dismissed.
    public enum Dismissed: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The presentation of this screen.
        case screen(String)
        /// The presentation in which the screen lies that sent the message. The string literal is `"sender"`.
        case sender

        public init(stringLiteral screen: String) { self = screen == Flow.senderWord ? .sender : .screen(screen) }
    }

    /// A screen and the arguments of its new instance. Strings in the arguments may be templates.
    public struct Destination: Hashable, Sendable, ExpressibleByStringLiteral {
        public let screen: String
        public let arguments: [String: JSONValue]

        public static func screen(_ name: String, _ arguments: [String: JSONValue] = [:]) -> Destination {
            Destination(screen: name, arguments: arguments)
        }

        /// Names a screen without arguments.
        public init(stringLiteral name: String) {
            self.init(screen: name, arguments: [:])
        }

        init(screen: String, arguments: [String: JSONValue]) {
            self.screen = screen
            self.arguments = arguments
        }
    }

    /// The arrangement of the stacks that a new root contains.
    public enum Layout: Hashable, Sendable {
        /// Columns, which are empty at first.
        case split
        /// Tabs. The first one is selected. If `history` is true, the state remembers the order in which tabs were
        /// selected, for the action `back`.
        case tabs([Tab], history: Bool = false)

        /// The tabs. Empty for columns.
        package var tabs: [Tab] {
            if case .tabs(let tabs, _) = self { tabs } else { [] }
        }

        /// True if the state remembers the order in which tabs were selected.
        var keepsHistory: Bool {
            if case .tabs(_, let history) = self { history } else { false }
        }
    }

    /// A tab of a new root. A string literal declares a tab with the name of its first screen.
    public struct Tab: Hashable, Sendable, ExpressibleByStringLiteral {
        public let name: String
        /// The first screen of the tab's stack.
        public let destination: Destination

        public static func tab(_ name: String, _ destination: Destination) -> Tab {
            Tab(name: name, destination: destination)
        }

        /// Declares a tab with the name of its first screen, which has no arguments.
        public init(stringLiteral name: String) {
            self.init(name: name, destination: .screen(name))
        }

        init(name: String, destination: Destination) {
            self.name = name
            self.destination = destination
        }
    }

    /// The kinds of actions, by their names in a flow file.
    public enum ActionName: String, Hashable, Sendable, CaseIterable {
        case setRoot
        case push
        case pop
        case goTo
        case back
        case popToRoot
        case replacePath
        case present
        case dismiss
        case dismissAll
        case selectTab
        case show
        case update
        case openURL
        case send
        case finish
        case abandon
    }
}

extension Flow.Action {
    /// The action itself, without its `ifPossible`.
    package var unconditional: Flow.Action {
        if case .ifPossible(let action) = self { action.unconditional } else { self }
    }

    /// True if the action works on the screen that sent the message.
    var isOnSender: Bool {
        switch self {
        case .push(_, on: .sender), .pushFlow(_, arguments: _, on: .sender), .pop(.sender, column: _),
            .dismiss(.sender):
            true
        default: false
        }
    }

    /// The kind of the action; of `ifPossible`, the kind of its action.
    public var name: Flow.ActionName {
        switch self {
        case .setRoot: .setRoot
        case .push, .pushFlow: .push
        case .pop: .pop
        case .goTo: .goTo
        case .back: .back
        case .popToRoot: .popToRoot
        case .replacePath: .replacePath
        case .present, .presentFlow: .present
        case .dismiss: .dismiss
        case .dismissAll: .dismissAll
        case .selectTab: .selectTab
        case .show: .show
        case .update: .update
        case .openURL: .openURL
        case .send: .send
        case .finish: .finish
        case .abandon: .abandon
        case .ifPossible(let action): action.name
        }
    }
}

extension Flow.Action {
    /// The action, and the actions of the buttons of the alert or dialog that it presents.
    package var withButtons: [Flow.Action] {
        switch self {
        case .present(_, as: _, options: let options), .presentFlow(_, arguments: _, as: _, options: let options):
            [self] + (options.buttons ?? []).flatMap { $0.actions.flatMap(\.withButtons) }
        case .ifPossible(let action): action.withButtons
        default: [self]
        }
    }

    /// The types of the commands that the action sends, or that the buttons of the alert or dialog send which it
    /// presents.
    package var sentTypes: [String] {
        withButtons.flatMap { action -> [String] in
            switch action {
            case .send(type: let type, data: _): [type]
            case .present(_, as: _, options: let options): (options.buttons ?? []).compactMap(\.sends)
            default: []
            }
        }
    }
}
