public import EventBus

/// What is known of a message: what it carries.
public struct MessageContract: Codable, Hashable, Sendable {
    public var type: MessageType
    /// What its data is; nil where whoever declares it knows no more than its type.
    public var data: JSONSchema?
    /// Of a query, what it is answered with.
    public var answer: JSONSchema?

    public init(type: MessageType, data: JSONSchema? = nil, answer: JSONSchema? = nil) {
        self.type = type
        self.data = data
        self.answer = answer
    }
}

/// A message that a process says it receives or sends.
public struct DeclaredMessage: Sendable {
    public let type: MessageType
    /// The struct; nil for a message that is known by its name only.
    package let message: (any Message.Type)?

    /// A message that the process has a struct of.
    public init(_ message: any Message.Type) {
        type = message.type
        self.message = message
    }

    /// A message that the process only knows by its name, as a flow does; what the platform's own carry is known.
    public init(_ type: MessageType) {
        self.type = type
        message = PlatformMessages.all.first { $0.type == type }
    }
}

/// The messages that every app has, for those who know them by their names only.
package enum PlatformMessages {
    package static let all: [any Message.Type] = [
        Command.AlertAnswered.self, Command.BackCancelled.self, Command.BackCompleted.self, Command.BackStarted.self,
        Command.DataDispatched.self, Command.ErrorDismissed.self, Command.NavigationRequested.self,
        Command.PresentationDismissed.self, Command.ScreenDisplayed.self, Command.ScreenGone.self,
        Command.TabSelected.self, DomainEvent.DeepLinkReceived.self, DomainEvent.GuardDeadlinePassed.self,
        DomainEvent.LaunchFinished.self, DomainEvent.MessageDiscarded.self, DomainEvent.ScreenDismissed.self,
        DomainEvent.URLOpenRequested.self, ApplicationError.self, Document.Deadline.self,
        Document.ErrorBanner.self, Document.Flow.self, Document.NavigationState.self, Document.Presence.self,
        Document.ScreenWork.self, Document.ServiceContract.self,
    ]
}

extension [any Message.Type] {
    /// Their types on the wire, in this order.
    public var types: [MessageType] { map { $0.type } }
}
