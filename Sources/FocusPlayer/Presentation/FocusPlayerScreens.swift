internal import Contracts
package import Device
internal import EventBus
internal import Vocabulary

extension AppScreens {
    /// The screens of the focus player.
    package static let focusPlayer = AppScreens(
        flow: "focus-player", platforms: ["ios", "mac"],
        viewModels: [
            "launch": LaunchViewModel.self,
            "serviceSelection": ServiceSelectionViewModel.self,
            "playlistSelection": PlaylistSelectionViewModel.self,
            "generatedPlaylist": GeneratedPlaylistViewModel.self,
            "nowPlaying": NowPlayingViewModel.self,
            "deviceActivation": DeviceActivationViewModel.self,
            "premiumRequired": PremiumRequiredViewModel.self,
        ],
        documents: [
            Document.Playlists.self, Document.GeneratedPlaylist.self, Document.NowPlaying.self, Document.Devices.self,
        ],
        commands: [
            Command.SpotifyAuthorizationRequested.self, Command.SpotifyDeauthorizationRequested.self,
            Command.PlaylistSelected.self, Command.PlayOnSpotifyRequested.self, Command.DeviceSelected.self,
            Command.NowPlayingRequested.self, Command.PauseRequested.self, Command.ResumeRequested.self,
            Command.NextSongRequested.self, Command.PreviousSongRequested.self, Command.SeekRequested.self,
            Command.VolumeRequested.self,
            Command.DidRequestOpenPlaylistOnSpotify.self, Command.OpenAnotherAppRequested.self,
        ],
        queries: [Query.PlaylistSongs.self],
        openingURLs: [
            Command.SpotifyAuthorizationRequested.self, Command.DidRequestOpenPlaylistOnSpotify.self,
            Command.OpenAnotherAppRequested.self,
        ],
        notices: [
            Notice("Spotify plays.", on: DomainEvent.PlaybackStarted.self),
            Notice("Spotify has changed it.", on: DomainEvent.PlaybackChanged.self),
        ])
}

/// The first screen.
struct LaunchViewModel: ViewModel {
    init(documents: LatestDocuments, arguments: [String: String]) {}

    var content: ScreenContent {
        ScreenContent(title: "Focus Player", rows: ["Starting…"])
    }
}

/// The screen on which a person chooses the music service to connect.
struct ServiceSelectionViewModel: ViewModel {
    init(documents: LatestDocuments, arguments: [String: String]) {}

    var content: ScreenContent {
        ScreenContent(
            title: "Choose a music service",
            rows: ["Your playlists become shuffled focus playlists."],
            actions: [ScreenAction("Connect Spotify", Command.SpotifyAuthorizationRequested(), role: .primary)])
    }
}

/// The screen on which a person chooses the playlist from which the focus playlist is made.
struct PlaylistSelectionViewModel: ViewModel {
    private let playlists: [Playlist]
    private let status: LoadStatus

    init(documents: LatestDocuments, arguments: [String: String]) {
        let document = documents[Document.Playlists.self]
        playlists = document?.playlists ?? []
        status = document?.status ?? .loading
    }

    var content: ScreenContent {
        ScreenContent(
            title: "Choose a playlist", rows: rows,
            actions: [
                ScreenAction("Log out of Spotify", Command.SpotifyDeauthorizationRequested(), role: .destructive)
            ],
            isLoading: playlists.isEmpty && status == .loading)
    }

    /// The playlists of an earlier load are shown while they are loaded again.
    private var rows: [ScreenContent.Row] {
        guard playlists.isEmpty else { return playlists.map(row) }
        switch status {
        case .loading: return ["Loading your playlists…"]
        case .ready: return ["There are no playlists in this account."]
        case .failed: return ["Your playlists could not be loaded."]
        }
    }

    private func row(of playlist: Playlist) -> ScreenContent.Row {
        ScreenContent.Row(
            playlist.name, subtitle: playlist.owner,
            detail: playlist.songCount == 1 ? "1 song" : "\(playlist.songCount) songs",
            command: Command.PlaylistSelected(playlistID: playlist.id))
    }
}

/// The screen that shows the shuffled focus playlist. An action asks for the songs that the document leaves out, page
/// by page.
struct GeneratedPlaylistViewModel: ViewModel {
    private let generated: Document.GeneratedPlaylist?
    private let name: String?
    /// The songs of the document and of the pages after it.
    private let songs: [Song]
    /// The index of the first song of the last page; 0 without pages.
    private let lastPage: Int

    init(documents: LatestDocuments, arguments: [String: String]) {
        // A screen with the argument `playlistID` shows only the document of this playlist.
        let wanted = arguments["playlistID"]
        generated = documents[Document.GeneratedPlaylist.self].flatMap {
            [nil, $0.playlistID].contains(wanted) ? $0 : nil
        }
        let playlistID = wanted ?? generated?.playlistID
        name = documents[Document.Playlists.self]?.playlists.first { $0.id == playlistID }?.name
        var (songs, lastPage) = (generated?.songs ?? [], 0)
        for (query, page) in documents.answers(to: Query.PlaylistSongs.self)
        where query.playlistID == generated?.playlistID && query.offset == songs.count {
            lastPage = songs.count
            songs += page.songs
        }
        (self.songs, self.lastPage) = (songs, lastPage)
    }

    var content: ScreenContent {
        ScreenContent(
            title: name ?? "Focus playlist", sections: [section], firstRow: lastPage, actions: actions,
            isLoading: generated.map { $0.status == .loading } ?? true)
    }

    private var section: ScreenContent.Section {
        guard let generated else { return ScreenContent.Section(rows: ["Shuffling…"]) }
        switch generated.status {
        case .loading: return ScreenContent.Section(rows: ["Shuffling…"])
        case .failed: return ScreenContent.Section(rows: ["This playlist could not be loaded."])
        case .ready where songs.isEmpty:
            return ScreenContent.Section(rows: ["There are no songs in this playlist."])
        case .ready:
            return ScreenContent.Section(
                rows: songs.map(Self.row), footer: missing > 0 ? "… and \(missing) more" : nil, isNumbered: true)
        }
    }

    /// The number of songs that are not loaded.
    private var missing: Int { max(0, (generated?.total ?? 0) - songs.count) }

    private var actions: [ScreenAction] {
        guard let generated, generated.status == .ready, !songs.isEmpty else { return [] }
        let playing = [
            ScreenAction("Play on Spotify", Command.PlayOnSpotifyRequested(), role: .primary),
            ScreenAction("Open in Spotify", Command.DidRequestOpenPlaylistOnSpotify()),
            ScreenAction("Now playing", Command.NowPlayingRequested()),
        ]
        guard missing > 0 else { return playing }
        let next = Query.PlaylistSongs(playlistID: generated.playlistID, offset: songs.count)
        return playing + [ScreenAction("Show more", asking: next, about: Document.GeneratedPlaylist.self)]
    }

    private static func row(of song: Song) -> ScreenContent.Row {
        ScreenContent.Row(
            song.title, subtitle: song.artist, detail: ScreenContent.Progress.text(ofMilliseconds: song.duration))
    }
}

/// The screen on which a person chooses the device to play on.
struct DeviceActivationViewModel: ViewModel {
    /// The address of Spotify's web player, with which a browser can be used as a device.
    private static let spotify = "https://open.spotify.com/"

    private let devices: [Speaker]?

    init(documents: LatestDocuments, arguments: [String: String]) {
        devices = documents[Document.Devices.self]?.devices
    }

    var content: ScreenContent {
        ScreenContent(
            title: "Activate a device", sections: [section],
            actions: [ScreenAction("Open Spotify", Command.OpenAnotherAppRequested(url: Self.spotify))],
            isLoading: devices == nil)
    }

    private var section: ScreenContent.Section {
        guard let devices else { return ScreenContent.Section(rows: ["Looking for devices…"]) }
        guard !devices.isEmpty else {
            return ScreenContent.Section(rows: ["No device was found. Open Spotify on one, close this and play again."])
        }
        return ScreenContent.Section(
            rows: devices.map(Self.row), footer: "No device is playing. Pick the one to play on.")
    }

    private static func row(of device: Speaker) -> ScreenContent.Row {
        ScreenContent.Row(
            device.name, subtitle: device.type, detail: device.isActive ? "active" : nil,
            command: Command.DeviceSelected(deviceID: device.id))
    }
}

/// The screen that says that only Premium accounts can be controlled.
struct PremiumRequiredViewModel: ViewModel {
    init(documents: LatestDocuments, arguments: [String: String]) {}

    var content: ScreenContent {
        ScreenContent(
            title: "Spotify Premium is needed",
            rows: ["Only Premium accounts can be played from here. You can play the playlist in Spotify itself."],
            actions: [ScreenAction("Open in Spotify", Command.DidRequestOpenPlaylistOnSpotify(), role: .primary)])
    }
}
