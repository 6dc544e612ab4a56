package import Contracts
package import EventBus

/// Turns documents into what one screen shows. A value: equal documents give equal content.
package protocol ViewModel: Sendable {
    /// - Parameters:
    ///   - documents: the newest ones.
    ///   - arguments: of the screen's instance: identifiers, never content.
    init(documents: LatestDocuments, arguments: [String: String])

    var content: ScreenContent { get }
}

/// What a screen shows and offers: enough for a terminal, a web page or a native view to draw it.
package struct ScreenContent: Sendable {
    package var title: String
    /// Lines of text, from top to bottom.
    package var rows: [String]
    /// What a person can do here, and nothing else.
    package var actions: [ScreenAction]
    /// Whether what the screen is about is still to come: more rows and other actions will take their place.
    package var isLoading: Bool
    /// The error that lies over the screen.
    package var banner: Banner?

    package init(
        title: String, rows: [String] = [], actions: [ScreenAction] = [], isLoading: Bool = false,
        banner: Banner? = nil
    ) {
        self.title = title
        self.rows = rows
        self.actions = actions
        self.isLoading = isLoading
        self.banner = banner
    }
}

/// Something to pick on a screen: what it says, and the command that it sends.
package struct ScreenAction: Sendable {
    package let label: String
    package let command: any CommandMessage

    package init(_ label: String, _ command: any CommandMessage) {
        self.label = label
        self.command = command
    }

    /// The type of the command on the wire, as in `command.PlaylistSelected`.
    package var type: MessageType { Swift.type(of: command).type }
}

/// An error that lies over whatever screen is shown.
package struct Banner: Sendable {
    package let severity: ApplicationError.Severity
    package let message: String
    /// What to do about it.
    package let recovery: String?
    /// How many more wait behind this one.
    package let waiting: Int
    /// Closes it.
    package let dismissal: ScreenAction

    /// nil if there is no error to show.
    package init?(_ document: Document.ErrorBanner?) {
        guard let document, let error = document.error, let errorID = document.errorID else { return nil }
        severity = error.severity
        message = error.message
        recovery = error.recovery
        waiting = document.waiting
        dismissal = ScreenAction("Dismiss", Command.ErrorDismissed(errorID: errorID))
    }
}
