internal import Contracts
package import EventBus
internal import Navigation
internal import Presentation
internal import Vocabulary

/// Something that a person can do on the screen: what it says, and the message that it sends.
package struct Choice: Sendable {
    package let label: String
    package let command: any CommandMessage
    /// The screen instance that it is on.
    package let instance: String
    /// Tells what the person did, which is true however late it arrives; anything else is an intent, and expires.
    let isReport: Bool
    let outcome: Outcome

    /// What there is to see once it has been acted upon.
    enum Outcome {
        /// Another state of the navigation, or music that plays.
        case navigation
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
        command = action.command
        self.instance = instance
        isReport = false
        self.outcome =
            outcome ?? (Self.openingURLs.contains(action.type.description) ? .openedURL : .navigation)
    }

    init(reporting command: any CommandMessage, on instance: String, label: String) {
        self.label = label
        self.command = command
        self.instance = instance
        isReport = true
        outcome = .navigation
    }

    init(_ button: AlertButton, on instance: String) {
        label = button.title
        command = Command.AlertAnswered(instance: instance, button: button.id)
        self.instance = instance
        isReport = true
        outcome = button.sends.map(Self.openingURLs.contains) == true ? .openedURL : .navigation
    }
}
