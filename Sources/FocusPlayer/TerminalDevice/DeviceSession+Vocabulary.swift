package import Contracts
package import EventBus
package import Navigation
internal import Presentation
internal import Vocabulary

// What a device listens to and publishes. What belongs to the focus player's screens is none of another app's business,
// which has its own in its flow.
extension DeviceSession {
    private static let commonReceives: [any Message.Type] = [
        Document.NavigationState.self, Document.ErrorBanner.self, DomainEvent.URLOpenRequested.self,
        DomainEvent.MessageDiscarded.self, ApplicationError.self,
    ]
    static let receives: [any Message.Type] =
        commonReceives + [
            Document.Playlists.self, Document.GeneratedPlaylist.self, Document.Devices.self,
            DomainEvent.PlaybackStarted.self,
        ]

    private static let commonSends: [any Message.Type] = [
        DomainEvent.LaunchFinished.self, Command.ScreenDisplayed.self, Command.ScreenGone.self,
        Command.BackCompleted.self, Command.PresentationDismissed.self, Command.AlertAnswered.self,
        Command.TabSelected.self, Command.ErrorDismissed.self,
    ]
    package static let sends: [any Message.Type] =
        commonSends + [
            Command.SpotifyAuthorizationRequested.self, Command.SpotifyDeauthorizationRequested.self,
            Command.PlaylistSelected.self, Command.PlayOnSpotifyRequested.self, Command.DeviceSelected.self,
            Command.DidRequestOpenPlaylistOnSpotify.self, Command.OpenAnotherAppRequested.self,
        ]

    /// What a device of this flow listens to, as its process declares it; nil for the focus player's. Of another app it
    /// shows whatever documents there are.
    package static func receives(with flow: Flow?) -> [DeclaredMessage] {
        (isPlayer(flow) ? receives : commonReceives).map { DeclaredMessage($0) }
    }

    /// What a device of this flow publishes: with the commands that the flow's screens send.
    package static func sends(with flow: Flow?) -> [DeclaredMessage] {
        let known = isPlayer(flow) ? sends : commonSends
        let types = Set(flow?.screens.values.flatMap(\.sends) ?? []).sorted().compactMap { MessageType($0) }
        return known.map { DeclaredMessage($0) }
            + types.filter { !known.types.contains($0) }.map { DeclaredMessage($0) }
    }

    private static func isPlayer(_ flow: Flow?) -> Bool {
        flow.map { $0.name == ScreenRegistry.flow } ?? true
    }
}
