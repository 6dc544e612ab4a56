public import Support

extension Flow {
    /// A deep link: the pattern of its URLs, the conditions for following it, and the screens that it opens. Instead of
    /// opening screens, a link may lead to another URL, or only send commands.
    ///
    ///     Flow.Link(
    ///         "focus://playlist/{playlistID}",
    ///         when: [.root("playlistSelection")],
    ///         to: .init(
    ///             root: "playlistSelection",
    ///             path: [.screen("generatedPlaylist", ["playlistID": "${url.playlistID}"])]
    ///         )
    ///     )
    public struct Link: Hashable, Sendable {
        /// The pattern of the link's URLs; see ``URLPattern``.
        public let url: String
        /// Conditions on the state, all of which must hold before the link is followed. Until then the link is parked,
        /// for at most ``park``. If the link's target is open already, the conditions do not matter.
        public let when: [Condition]
        /// Conditions on the state, none of which may hold.
        public let unless: [Condition]
        /// The screens to which the link leads. Nil for a redirect, and for a link that only sends commands.
        public let to: Target?
        /// The screens that are opened if the URL arrives while the conditions do not hold. Nil if there are none.
        public let otherwise: Target?
        /// The URL to which the link leads instead, such as `shop://item/${url.itemID}`. Nil for other links.
        public let redirect: String?
        /// True if the link opens no screens and only sends commands, each time that its URL is opened. It is followed
        /// at once or discarded.
        public let isAction: Bool
        /// The commands that are sent when the link is followed. They are not sent if the target is already open.
        public let sends: [Sending]
        /// The maximum time for which the link stays parked, in whole milliseconds, from 0 to 366 days. The first
        /// message that the machine handles after this time discards the link. If the time is 0, the link is followed
        /// at once or discarded.
        public let park: Duration
        /// The treatment of presentations that the link would have to dismiss, by style. For a style that is not
        /// listed, the default applies: the link waits for an alert or a dialog, and dismisses any other presentation.
        public let over: [PresentationStyle: Precedence]
        /// The place where the link is written.
        public let location: RuleLocation
        /// The parsed pattern. Nil if it is invalid, which the checker reports.
        let pattern: URLPattern?

        /// The default of ``park``: 10 minutes.
        public static let usualPark: Duration = .seconds(600)

        public init(
            _ url: String,
            when: [Condition] = [],
            unless: [Condition] = [],
            to: Target? = nil,
            otherwise: Target? = nil,
            redirect: String? = nil,
            action isAction: Bool = false,
            send sends: [Sending] = [],
            park: Duration = usualPark,
            over: [PresentationStyle: Precedence] = [:],
            file: String = #fileID,
            line: Int = #line
        ) {
            self.url = url
            self.when = when.sorted { $0.scope.rawValue < $1.scope.rawValue }
            self.unless = unless.sorted { $0.scope.rawValue < $1.scope.rawValue }
            self.to = to
            self.otherwise = otherwise
            self.redirect = redirect
            self.isAction = isAction
            self.sends = sends
            self.park = .milliseconds(park.milliseconds)
            self.over = over
            location = RuleLocation(file: file, line: line)
            pattern = try? URLPattern(url)
        }

        /// Returns the treatment of a presentation of this style that the link would have to dismiss.
        func precedence(over style: PresentationStyle) -> Precedence {
            if let precedence = over[style] { return precedence }
            return style.isQuestion ? .wait : .dismiss
        }

        /// True if the link's conditions hold in this state.
        func admits(_ state: NavigationState) -> Bool {
            Flow.Condition.hold(when: when, unless: unless, in: state)
        }

        /// The root screens that the link's path may lie on: its own root, or those that its conditions require. Empty
        /// if there are neither.
        package var roots: [String] {
            if let root = to?.root { return [root.destination.screen] }
            return when.filter { $0.scope == .root }.flatMap { $0.screens.map(\.screen) }
        }
    }

    /// The treatment of a presentation that a deep link would have to dismiss.
    public enum Precedence: String, Hashable, Sendable, CaseIterable {
        /// The presentation is dismissed.
        case dismiss
        /// The link waits for at most its ``Flow/Link/park`` until the presentation has been dismissed.
        case wait
        /// The link is discarded.
        case refuse
    }
}

extension Flow.Link {
    /// The target of a deep link: the screens that are shown after it was followed, and those beneath them.
    ///
    /// An argument is a constant, a value of the URL (`${url.NAME}`), or a value with a default for URLs that lack it
    /// (`${url.NAME:-DEFAULT}`).
    public struct Target: Hashable, Sendable {
        /// The root. Nil to keep the current root.
        public let root: Root?
        /// The tab to select. Nil to keep the selected tab.
        public let tab: String?
        /// The stacks in the columns of a split root, by the columns' names. All other columns are emptied.
        public let columns: [String: Column]
        /// The screens on the root, or on the first screen of the selected tab; the topmost one is last.
        public let path: [Flow.Destination]
        /// The presentation over these screens. Nil if nothing is presented. All other presentations are dismissed.
        public let present: Presented?

        public init(
            root: Root? = nil,
            tab: String? = nil,
            columns: [String: Column] = [:],
            path: [Flow.Destination] = [],
            present: Presented? = nil
        ) {
            self.root = root
            self.tab = tab
            self.columns = columns
            self.path = path
            self.present = present
        }

        /// The screens of the target whose arguments may use values of the URL, from the root up.
        var destinations: [Flow.Destination] {
            [root?.destination, first].compactMap(\.self) + columns.sorted { $0.key < $1.key }.flatMap(\.value.screens)
                + path + [present?.destination].compactMap(\.self)
        }

        /// The first screen of the target's tab, as its root declares it. Nil if the target names no root with that
        /// tab.
        var first: Flow.Destination? {
            root?.container?.tabs.first { $0.name == tab }?.destination
        }
    }

    /// The root beneath the other screens of a deep link. An open root that fits the target is kept.
    public struct Root: Hashable, Sendable, ExpressibleByStringLiteral {
        public let destination: Flow.Destination
        /// The arrangement of the stacks that the root contains. If it is nil, an open root may have any arrangement,
        /// and a new root has a plain stack.
        public let container: Flow.Layout?

        public init(_ destination: Flow.Destination, container: Flow.Layout? = nil) {
            self.destination = destination
            self.container = container
        }

        /// Names a root without arguments.
        public init(stringLiteral name: String) {
            self.init(Flow.Destination(stringLiteral: name))
        }
    }

    /// The stack that a deep link opens in a column.
    public struct Column: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The first screen of the column.
        public let first: Flow.Destination
        /// The screens on the first one; the topmost one is last.
        public let path: [Flow.Destination]

        public static func screen(
            _ name: String,
            _ arguments: [String: JSONValue] = [:],
            path: [Flow.Destination] = []
        ) -> Column {
            Column(.screen(name, arguments), path: path)
        }

        /// Names a screen without arguments.
        public init(stringLiteral name: String) {
            self.init(Flow.Destination(stringLiteral: name))
        }

        public init(_ first: Flow.Destination, path: [Flow.Destination] = []) {
            self.first = first
            self.path = path
        }

        /// All screens of the stack, from the first one up.
        var screens: [Flow.Destination] { [first] + path }
    }

    /// A command that a deep link sends.
    public struct Sending: Hashable, Sendable {
        /// The type, such as `command.PlaylistSelected`.
        public let type: String
        /// The fields of the data: constants or values of the URL, as in a screen's arguments.
        public let data: [String: JSONValue]

        public init(_ type: String, _ data: [String: JSONValue] = [:]) {
            self.type = type
            self.data = data
        }
    }

    /// The presentation that a deep link opens.
    public struct Presented: Hashable, Sendable {
        public let destination: Flow.Destination
        public let style: PresentationStyle
        public let options: PresentationOptions

        public init(
            _ destination: Flow.Destination,
            as style: PresentationStyle,
            options: PresentationOptions = PresentationOptions()
        ) {
            self.destination = destination
            self.style = style
            self.options = options
        }
    }
}

extension Flow.Link {
    /// The type of the values of a placeholder in the URL. Nil if the URL has no such placeholder.
    package func typeOfURLValue(_ name: String) -> JSONSchema? {
        switch pattern?.type(of: name) {
        case .string: .string
        case .integer: .integer
        case .number: .number
        case .boolean: .boolean
        case nil: nil
        }
    }
}
