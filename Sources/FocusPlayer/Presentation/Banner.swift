package import Contracts
internal import EventBus

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
