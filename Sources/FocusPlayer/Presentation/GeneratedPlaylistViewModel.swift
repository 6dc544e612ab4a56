internal import Contracts
internal import Vocabulary

/// Shows the shuffled focus playlist.
struct GeneratedPlaylistViewModel: ViewModel {
    private let generated: Document.GeneratedPlaylist?
    private let name: String?

    init(documents: LatestDocuments, arguments: [String: String]) {
        // A screen that is about one playlist never shows the document of another: that one is older, or newer.
        let wanted = arguments["playlistID"]
        generated = documents.generatedPlaylist.flatMap { [nil, $0.playlistID].contains(wanted) ? $0 : nil }
        let playlistID = wanted ?? generated?.playlistID
        name = documents.playlists?.playlists.first { $0.id == playlistID }?.name
    }

    var content: ScreenContent {
        ScreenContent(
            title: name ?? "Focus playlist", rows: rows, actions: actions,
            isLoading: generated.map { $0.status == .loading } ?? true)
    }

    private var rows: [String] {
        guard let generated else { return ["Shuffling…"] }
        switch generated.status {
        case .loading: return ["Shuffling…"]
        case .failed: return ["This playlist could not be loaded."]
        case .ready where generated.songs.isEmpty: return ["There are no songs in this playlist."]
        case .ready: return generated.songs.enumerated().map { Self.row($0.offset + 1, $0.element) }
        }
    }

    private var actions: [ScreenAction] {
        guard let generated, generated.status == .ready, !generated.songs.isEmpty else { return [] }
        return [
            ScreenAction("Play on Spotify", Command.PlayOnSpotifyRequested()),
            ScreenAction("Open in Spotify", Command.DidRequestOpenPlaylistOnSpotify()),
        ]
    }

    private static func row(_ number: Int, _ song: Song) -> String {
        let seconds = song.duration / 1000
        let rest = String(seconds % 60)
        return "\(number). \(song.title) · \(song.artist) · \(seconds / 60):\(rest.count < 2 ? "0" : "")\(rest)"
    }
}
