public import Support

extension Flow {
    /// A deep link: what its URLs look like, when they may be followed, and where they lead.
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
        /// The pattern of its URLs; see ``URLPattern``.
        public let url: String
        /// Conditions on the state that must all hold for it to be followed. Until they do, it is parked.
        public let when: [Condition]
        /// Conditions on the state of which none may hold.
        public let unless: [Condition]
        /// Where it leads.
        public let to: Target
        /// The commands that go out when it is followed, so that services load what it shows. They are not sent when what
        /// it leads to is there already.
        public let sends: [Sending]
        /// How long it stays parked, in whole milliseconds. One that is not parked at all is followed at once or never.
        public let park: Duration
        /// What happens to presentations in its way, where that is not the style's usual.
        public let over: [PresentationStyle: Precedence]
        /// nil for a pattern that cannot be read, which is a finding of the checker.
        let pattern: URLPattern?

        /// How long a link stays parked unless its flow says something else.
        public static let usualPark: Duration = .seconds(600)

        /// Declares a deep link.
        public init(
            _ url: String,
            when: [Condition] = [],
            unless: [Condition] = [],
            to: Target,
            send sends: [Sending] = [],
            park: Duration = usualPark,
            over: [PresentationStyle: Precedence] = [:]
        ) {
            self.url = url
            self.when = when.sorted { $0.place.rawValue < $1.place.rawValue }
            self.unless = unless.sorted { $0.place.rawValue < $1.place.rawValue }
            self.to = to
            self.sends = sends
            self.park = .milliseconds(park.milliseconds)
            self.over = over
            pattern = try? URLPattern(url)
        }

        /// What happens to a presentation of this style that is in the link's way.
        func precedence(over style: PresentationStyle) -> Precedence {
            if let precedence = over[style] { return precedence }
            // Whoever asks a question is owed an answer.
            return style.isQuestion ? .wait : .dismiss
        }

        /// Whether it may be followed in this state, as far as its own conditions tell.
        func admits(_ state: NavigationState) -> Bool {
            when.allSatisfy { $0.holds(in: state) } && !unless.contains { $0.holds(in: state) }
        }

        /// The root screens on which it lies: its own, or those that it asks for.
        var roots: [String] {
            if let root = to.root { return [root.destination.screen] }
            return when.filter { $0.place == .root }.flatMap { $0.screens.map(\.screen) }
        }
    }

    /// What happens to a presentation that is in a deep link's way.
    public enum Precedence: String, Hashable, Sendable, CaseIterable {
        /// The presentation goes.
        case dismiss
        /// The link is parked until the presentation has gone.
        case wait
        /// The link is discarded.
        case refuse
    }
}

extension Flow.Link {
    /// Where a deep link leads: the whole of what then stands, so that back from it goes where the link says.
    ///
    /// An argument is a constant, or `${url.NAME}`: a value of the URL. So a state can be read as a URL again.
    public struct Target: Hashable, Sendable {
        /// The root; nil leaves the one that stands, whichever it is.
        public let root: Root?
        /// The tab that is selected; nil leaves the one that is.
        public let tab: String?
        /// What stands in the columns of a split root; other columns are emptied.
        public let columns: [String: Column]
        /// What is pushed on the root, or on the first screen of the selected tab, the topmost last.
        public let path: [Flow.Destination]
        /// What is presented over it; nothing else is.
        public let present: Presented?

        /// Describes where a link leads.
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

        /// All screens that it names, from the root up.
        var destinations: [Flow.Destination] {
            [root?.destination, first].compactMap(\.self) + columns.sorted { $0.key < $1.key }.flatMap(\.value.screens)
                + path + [present?.destination].compactMap(\.self)
        }

        /// The first screen of the tab that it selects, as its root declares that.
        var first: Flow.Destination? {
            guard case .tabs(let tabs) = root?.container else { return nil }
            return tabs.first { $0.name == tab }?.destination
        }
    }

    /// The root that a deep link lies on. It is set anew only if another one stands.
    public struct Root: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The screen.
        public let destination: Flow.Destination
        /// How it arranges what stands beside it; nil where that does not matter.
        public let container: Flow.Layout?

        /// Names the root and its arrangement.
        public init(_ destination: Flow.Destination, container: Flow.Layout? = nil) {
            self.destination = destination
            self.container = container
        }

        /// Names a root that takes no arguments.
        public init(stringLiteral name: String) {
            self.init(Flow.Destination(stringLiteral: name))
        }
    }

    /// What a deep link wants in a column.
    public struct Column: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The screen that the column begins with.
        public let first: Flow.Destination
        /// What is pushed on it, the topmost last.
        public let path: [Flow.Destination]

        /// Names a screen, its arguments and what is pushed on it.
        public static func screen(
            _ name: String,
            _ arguments: [String: JSONValue] = [:],
            path: [Flow.Destination] = []
        ) -> Column {
            Column(.screen(name, arguments), path: path)
        }

        /// Names a screen that takes no arguments.
        public init(stringLiteral name: String) {
            self.init(Flow.Destination(stringLiteral: name))
        }

        /// Names a screen and what is pushed on it.
        public init(_ first: Flow.Destination, path: [Flow.Destination] = []) {
            self.first = first
            self.path = path
        }

        /// All screens that it names, from the first up.
        var screens: [Flow.Destination] { [first] + path }
    }

    /// A command that a deep link sends.
    public struct Sending: Hashable, Sendable {
        /// Its type, such as `command.PlaylistSelected`.
        public let type: String
        /// Its fields: constants, or `${url.NAME}` as in a screen's arguments.
        public let data: [String: JSONValue]

        /// Names the command and what it carries.
        public init(_ type: String, _ data: [String: JSONValue] = [:]) {
            self.type = type
            self.data = data
        }
    }

    /// What a deep link presents.
    public struct Presented: Hashable, Sendable {
        /// The screen.
        public let destination: Flow.Destination
        /// How it lies over the others.
        public let style: PresentationStyle
        /// What the view needs to know besides.
        public let options: PresentationOptions

        /// Names the screen and how it is presented.
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
