internal import Contracts
internal import Vocabulary

/// Chooses the playlist to make a focus playlist of.
struct PlaylistSelectionViewModel: ViewModel {
    private let playlists: [Playlist]?

    init(documents: LatestDocuments, arguments: [String: String]) {
        playlists = documents.playlists?.playlists
    }

    var content: ScreenContent {
        let choices = (playlists ?? []).map { playlist in
            ScreenAction(label(of: playlist), Command.PlaylistSelected(playlistID: playlist.id))
        }
        return ScreenContent(
            title: "Choose a playlist", rows: rows,
            actions: choices + [ScreenAction("Log out of Spotify", Command.SpotifyDeauthorizationRequested())],
            isLoading: playlists == nil)
    }

    private var rows: [String] {
        switch playlists?.count {
        case nil: ["Loading your playlists…"]
        case 0: ["There are no playlists in this account."]
        default: []
        }
    }

    private func label(of playlist: Playlist) -> String {
        let songs = playlist.songCount == 1 ? "1 song" : "\(playlist.songCount) songs"
        return "\(playlist.name) · \(playlist.owner) · \(songs)"
    }
}
