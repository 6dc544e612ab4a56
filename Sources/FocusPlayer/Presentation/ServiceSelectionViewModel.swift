internal import Contracts
internal import Vocabulary

/// Chooses the music service to connect.
struct ServiceSelectionViewModel: ViewModel {
    init(documents: LatestDocuments, arguments: [String: String]) {}

    var content: ScreenContent {
        ScreenContent(
            title: "Choose a music service",
            rows: ["Your playlists become shuffled focus playlists."],
            actions: [ScreenAction("Connect Spotify", Command.SpotifyAuthorizationRequested())])
    }
}
