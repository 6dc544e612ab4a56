internal import Contracts
internal import Vocabulary

/// Says that an account without Premium cannot be told to play.
struct PremiumRequiredViewModel: ViewModel {
    init(documents: LatestDocuments, arguments: [String: String]) {}

    var content: ScreenContent {
        ScreenContent(
            title: "Spotify Premium is needed",
            rows: ["Only Premium accounts can be played from here. You can play the playlist in Spotify itself."],
            actions: [ScreenAction("Open in Spotify", Command.DidRequestOpenPlaylistOnSpotify())])
    }
}
