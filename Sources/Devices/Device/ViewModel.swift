public import Contracts
public import EventBus

/// Turns documents into what one screen shows. A value: equal documents give equal content.
public protocol ViewModel: Sendable {
    /// - Parameters:
    ///   - documents: the newest ones.
    ///   - arguments: of the screen's instance: identifiers, never content.
    init(documents: LatestDocuments, arguments: [String: String])

    var content: ScreenContent { get }
}

/// What a screen shows and offers: enough for a terminal, a web page or a native view to draw it.
public struct ScreenContent: Sendable {
    public var title: String
    /// Lines of text, from top to bottom.
    public var rows: [String]
    /// What a person can do here, and nothing else.
    public var actions: [ScreenAction]
    /// Whether what the screen is about is still to come: more rows and other actions will take their place.
    public var isLoading: Bool

    public init(title: String, rows: [String] = [], actions: [ScreenAction] = [], isLoading: Bool = false) {
        self.title = title
        self.rows = rows
        self.actions = actions
        self.isLoading = isLoading
    }
}

/// Something to pick on a screen: what it says, and the command that it sends.
public struct ScreenAction: Sendable {
    public let label: String
    public let command: any CommandMessage

    public init(_ label: String, _ command: any CommandMessage) {
        self.label = label
        self.command = command
    }

    /// The type of the command on the wire, as in `command.PlaylistSelected`.
    public var type: MessageType { Swift.type(of: command).type }
}

/// The screens that an app draws itself, with all that its view models receive and send. Screens of other flows, and those
/// without a view model, are drawn by what their flow says of them.
public struct AppScreens: Sendable {
    /// An event that is told to the person in words. It answers the choice that led to it.
    public struct Notice: Sendable {
        let event: any EventMessage.Type
        let text: String

        public init(_ text: String, on event: any EventMessage.Type) {
            self.event = event
            self.text = text
        }
    }

    /// The name of the flows whose screens these are. Flows of other apps may have screens of the same names.
    let flow: String
    /// The platforms that have such a flow.
    package let platforms: [String]
    let viewModels: [String: any ViewModel.Type]
    let documents: [any DocumentMessage.Type]
    let commands: [any CommandMessage.Type]
    let openingURLs: Set<String>
    let notices: [Notice]

    /// - Parameters:
    ///   - flow: the name of the app's flows, the same on every platform.
    ///   - platforms: those that have such a flow.
    ///   - viewModels: by the names of the screens in the flows.
    ///   - documents: what the view models are made from.
    ///   - commands: what their actions send.
    ///   - openingURLs: the commands that are answered by a URL to open.
    ///   - notices: the events that are told in words.
    public init(
        flow: String, platforms: [String], viewModels: [String: any ViewModel.Type],
        documents: [any DocumentMessage.Type], commands: [any CommandMessage.Type],
        openingURLs: [any CommandMessage.Type] = [], notices: [Notice] = []
    ) {
        self.flow = flow
        self.platforms = platforms
        self.viewModels = viewModels
        self.documents = documents
        self.commands = commands
        self.openingURLs = Set(openingURLs.map { $0.type.description })
        self.notices = notices
    }

    /// The names of the screens that have a view model.
    public var names: [String] { viewModels.keys.sorted() }
}

/// An error that lies over whatever screen is shown.
public struct Banner: Sendable {
    public let severity: ApplicationError.Severity
    public let message: String
    /// What to do about it.
    public let recovery: String?
    /// The number of errors that are shown after this one.
    public let waiting: Int
    /// Closes it.
    let dismissal: Command.ErrorDismissed

    /// nil if there is no error to show.
    init?(_ document: Document.ErrorBanner?) {
        guard let document, let error = document.error, let errorID = document.errorID else { return nil }
        severity = error.severity
        message = error.message
        recovery = error.recovery
        waiting = document.waiting
        dismissal = Command.ErrorDismissed(errorID: errorID)
    }
}
