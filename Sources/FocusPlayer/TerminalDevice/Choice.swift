internal import Contracts
package import EventBus
internal import Navigation
internal import Presentation
internal import Vocabulary

/// Something that a person can do on the screen: what it says, and the message that it sends.
package struct Choice: Sendable {
    package let label: String
    let content: Content
    /// The screen instance that it is on.
    package let instance: String
    /// Tells what the person did, which is true however late it arrives; anything else is an intent, and expires.
    let isReport: Bool
    let outcome: Outcome

    enum Content: Sendable {
        case command(any CommandMessage)
        /// A command that only the flow knows: its type, and the fields that a person has typed.
        case named(MessageType, [String: JSONValue])
    }

    /// What there is to see once it has been acted upon.
    enum Outcome {
        /// Another state of the navigation, or music that plays.
        case navigation
        /// Something that a service publishes about it: no rule of the flow answers it.
        case service
        case openedURL
        case closedBanner
    }

    /// The commands of the focus player that lead out of it.
    private static let openingURLs: Set<String> = [
        Command.SpotifyAuthorizationRequested.type.description,
        Command.DidRequestOpenPlaylistOnSpotify.type.description,
        Command.OpenAnotherAppRequested.type.description,
    ]

    init(_ action: ScreenAction, on instance: String, outcome: Outcome? = nil) {
        label = action.label
        content = .command(action.command)
        self.instance = instance
        isReport = false
        self.outcome =
            outcome ?? (Self.openingURLs.contains(action.type.description) ? .openedURL : .navigation)
    }

    init(reporting command: any CommandMessage, on instance: String, label: String) {
        self.label = label
        content = .command(command)
        self.instance = instance
        isReport = true
        outcome = .navigation
    }

    init(_ button: AlertButton, on instance: String) {
        label = button.title
        content = .command(Command.AlertAnswered(instance: instance, button: button.id))
        self.instance = instance
        isReport = true
        outcome = button.sends.map(Self.openingURLs.contains) == true ? .openedURL : .navigation
    }

    /// A command of which the flow says no more than its type.
    init(_ type: MessageType, fields: [String: JSONValue] = [:], on instance: String, outcome: Outcome) {
        label = type.name
        content = .named(type, fields)
        self.instance = instance
        isReport = false
        self.outcome = outcome
    }

    /// The command, if it is one that this device knows more of than its name.
    package var command: (any CommandMessage)? {
        if case .command(let command) = content { command } else { nil }
    }

    package var type: MessageType {
        switch content {
        case .command(let command): Swift.type(of: command).type
        case .named(let type, _): type
        }
    }
}
