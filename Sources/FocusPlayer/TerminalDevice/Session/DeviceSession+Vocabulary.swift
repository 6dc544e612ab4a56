internal import Contracts
package import EventBus
package import Navigation
internal import Vocabulary

extension DeviceSession {
    /// The message types that a device listens to.
    package static let receives: [MessageType] = [
        Document.NavigationState.type, Document.Playlists.type, Document.GeneratedPlaylist.type,
        Document.Devices.type, Document.ErrorBanner.type, DomainEvent.URLOpenRequested.type,
        DomainEvent.PlaybackStarted.type, DomainEvent.MessageDiscarded.type, ApplicationError.type,
    ]

    /// The message types that it publishes.
    package static let sends: [MessageType] = [
        DomainEvent.LaunchFinished.type, Command.ScreenDisplayed.type, Command.ScreenGone.type,
        Command.BackCompleted.type, Command.PresentationDismissed.type, Command.AlertAnswered.type,
        Command.TabSelected.type, Command.ErrorDismissed.type, Command.SpotifyAuthorizationRequested.type,
        Command.SpotifyDeauthorizationRequested.type, Command.PlaylistSelected.type,
        Command.PlayOnSpotifyRequested.type, Command.DeviceSelected.type,
        Command.DidRequestOpenPlaylistOnSpotify.type, Command.OpenAnotherAppRequested.type,
    ]

    /// With the commands that the screens of a flow send.
    package static func sends(with flow: Flow?) -> [MessageType] {
        let types = Set(flow?.screens.values.flatMap(\.sends) ?? []).sorted().compactMap(MessageType.init)
        return sends + types.filter { !sends.contains($0) }
    }
}
