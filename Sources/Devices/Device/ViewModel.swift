public import Contracts
public import EventBus

/// Makes the content of one screen from documents.
public protocol ViewModel: Sendable {
    /// - Parameters:
    ///   - documents: The newest documents of the session.
    ///   - arguments: The arguments of the screen instance that are strings.
    init(documents: LatestDocuments, arguments: [String: String])

    var content: ScreenContent { get }
}

/// The content and the actions of a screen, as a terminal, a web page or a native view can draw them.
public struct ScreenContent: Sendable {
    public var title: String
    /// Lines of text, from top to bottom.
    public var rows: [String]
    /// The index of the first row that a view shows if it has no room for all rows.
    public var firstRow: Int
    /// The actions that a person can choose on the screen, if the flow allows their commands.
    public var actions: [ScreenAction]
    /// True if the content is still being loaded.
    public var isLoading: Bool

    public init(
        title: String, rows: [String] = [], firstRow: Int = 0, actions: [ScreenAction] = [], isLoading: Bool = false
    ) {
        self.title = title
        self.rows = rows
        self.firstRow = firstRow
        self.actions = actions
        self.isLoading = isLoading
    }
}

/// An action on a screen: its label, and the command that it sends or the query that it asks.
public struct ScreenAction: Sendable {
    enum Content: Sendable {
        case command(any CommandMessage)
        case query(any QueryMessage, about: MessageType)
    }

    public let label: String
    let content: Content

    /// Creates an action that sends a command. The screen has it while the flow allows the command.
    public init(_ label: String, _ command: any CommandMessage) {
        self.label = label
        content = .command(command)
    }

    /// Creates an action that asks a query. The view models find the answer with ``LatestDocuments/answers(to:)``.
    ///
    /// While a query about the document has no answer, the screen is loading and does not have the action.
    ///
    /// - Parameter document: The document that the answer continues or explains. When a newer document of this type
    ///   arrives, or the document is withdrawn, the answer is forgotten.
    public init(_ label: String, asking query: any QueryMessage, about document: any DocumentMessage.Type) {
        self.label = label
        content = .query(query, about: document.type)
    }

    /// Nil if the action asks a query.
    public var command: (any CommandMessage)? {
        if case .command(let command) = content { command } else { nil }
    }

    /// The message type of the command or query: `command.PlaylistSelected`.
    public var type: MessageType {
        switch content {
        case .command(let command): Swift.type(of: command).type
        case .query(let query, _): Swift.type(of: query).type
        }
    }
}

/// The screens of an app that have view models, with the messages that the view models receive and send. Other screens
/// are drawn from the flow and the documents.
public struct AppScreens: Sendable {
    /// A text that is shown when an event arrives. The event can also be the answer to a choice.
    public struct Notice: Sendable {
        let event: any EventMessage.Type
        let text: String

        public init(_ text: String, on event: any EventMessage.Type) {
            self.event = event
            self.text = text
        }
    }

    /// The name of the app's flows.
    let flow: String
    /// The platforms that have a flow with this name.
    package let platforms: [String]
    let viewModels: [String: any ViewModel.Type]
    let documents: [any DocumentMessage.Type]
    let commands: [any CommandMessage.Type]
    let queries: [any QueryMessage.Type]
    /// The names of the types of the commands that are answered with a request to open a URL.
    let openingURLs: Set<String>
    let notices: [Notice]

    /// - Parameters:
    ///   - flow: The name of the app's flows, which is the same on every platform.
    ///   - platforms: The platforms that have a flow with this name.
    ///   - viewModels: The view models, by the names of their screens in the flows.
    ///   - documents: The types of the documents that the view models read.
    ///   - commands: The types of the commands that the view models' actions send.
    ///   - queries: The types of the queries that the view models' actions ask.
    ///   - openingURLs: The types of the commands that are answered with a request to open a URL.
    ///   - notices: The events that are shown as texts.
    public init(
        flow: String, platforms: [String], viewModels: [String: any ViewModel.Type],
        documents: [any DocumentMessage.Type], commands: [any CommandMessage.Type],
        queries: [any QueryMessage.Type] = [],
        openingURLs: [any CommandMessage.Type] = [], notices: [Notice] = []
    ) {
        self.flow = flow
        self.platforms = platforms
        self.viewModels = viewModels
        self.documents = documents
        self.commands = commands
        self.queries = queries
        self.openingURLs = Set(openingURLs.map { $0.type.description })
        self.notices = notices
    }

    /// The names of the screens that have a view model.
    public var names: [String] { viewModels.keys.sorted() }
}

/// An error that is shown over every screen.
public struct Banner: Sendable {
    public let severity: ApplicationError.Severity
    public let message: String
    /// An action that solves the problem. Nil if none is known.
    public let recovery: String?
    /// The number of errors that will be shown after this error.
    public let waiting: Int
    /// The command that closes the banner.
    let dismissal: Command.ErrorDismissed

    /// - Returns: Nil if there is no error to show.
    init?(_ document: Document.ErrorBanner?) {
        guard let document, let error = document.error, let errorID = document.errorID else { return nil }
        severity = error.severity
        message = error.message
        recovery = error.recovery
        waiting = document.waiting
        dismissal = Command.ErrorDismissed(errorID: errorID)
    }
}
