package import EventBus

/// The messages of this module.
package enum PlatformMessages {
    package static let all: [any Message.Type] = [
        Command.AlertAnswered.self, Command.BackCancelled.self, Command.BackCompleted.self, Command.BackStarted.self,
        Command.DataDispatched.self, Command.ErrorDismissed.self, Command.NavigationRequested.self,
        Command.PresentationDismissed.self, Command.ScreenDisplayed.self, Command.ScreenGone.self,
        Command.TabSelected.self, DomainEvent.DeepLinkReceived.self, DomainEvent.GuardDeadlinePassed.self,
        DomainEvent.LaunchFinished.self, DomainEvent.MessageDiscarded.self, DomainEvent.MetricsReported.self,
        DomainEvent.MetricsRequested.self, DomainEvent.ScreenDismissed.self, DomainEvent.SessionEnded.self,
        DomainEvent.URLOpenRequested.self, ApplicationError.self, Document.Deadline.self, Document.ErrorBanner.self,
        Document.Flow.self, Document.NavigationState.self, Document.Presence.self, Document.ScheduledCommand.self,
        Document.ServiceContract.self,
    ]

    /// The document in which the error notifier keeps the errors that wait to be shown.
    package static let errorQueue = MessageType(kind: .document, name: "ErrorQueue")
}
