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
        public let columns: [String: Flow.Destination]
        /// What is pushed on the root, the topmost last.
        public let path: [Flow.Destination]
        /// What is presented over it; nothing else is.
        public let present: Presented?

        /// Describes where a link leads.
        public init(
            root: Root? = nil,
            tab: String? = nil,
            columns: [String: Flow.Destination] = [:],
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
            [root?.destination].compactMap(\.self) + columns.sorted { $0.key < $1.key }.map(\.value) + path
                + [present?.destination].compactMap(\.self)
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
