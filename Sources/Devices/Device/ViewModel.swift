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
