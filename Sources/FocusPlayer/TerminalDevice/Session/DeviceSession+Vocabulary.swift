package import Contracts
package import EventBus
package import Navigation
internal import Vocabulary

extension DeviceSession {
    /// What a device listens to.
    static let receives: [any Message.Type] = [
        Document.NavigationState.self, Document.Playlists.self, Document.GeneratedPlaylist.self,
        Document.Devices.self, Document.ErrorBanner.self, DomainEvent.URLOpenRequested.self,
        DomainEvent.PlaybackStarted.self, DomainEvent.MessageDiscarded.self, ApplicationError.self,
    ]

    /// The same, as a process declares it.
    package static var declaredReceives: [DeclaredMessage] { receives.map { DeclaredMessage($0) } }

    /// What it publishes.
    package static let sends: [any Message.Type] = [
        DomainEvent.LaunchFinished.self, Command.ScreenDisplayed.self, Command.ScreenGone.self,
        Command.BackCompleted.self, Command.PresentationDismissed.self, Command.AlertAnswered.self,
        Command.TabSelected.self, Command.ErrorDismissed.self, Command.SpotifyAuthorizationRequested.self,
        Command.SpotifyDeauthorizationRequested.self, Command.PlaylistSelected.self,
        Command.PlayOnSpotifyRequested.self, Command.DeviceSelected.self,
        Command.DidRequestOpenPlaylistOnSpotify.self, Command.OpenAnotherAppRequested.self,
    ]

    /// With the commands that the screens of a flow send.
    package static func sends(with flow: Flow?) -> [DeclaredMessage] {
        let types = Set(flow?.screens.values.flatMap(\.sends) ?? []).sorted().compactMap { MessageType($0) }
        return sends.map { DeclaredMessage($0) }
            + types.filter { !sends.types.contains($0) }.map { DeclaredMessage($0) }
    }
}
