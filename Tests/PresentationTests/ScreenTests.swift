import Contracts
import Device
import DeviceTestSupport
import EventBus
import Foundation
import Navigation
import Presentation
import Support
import Testing
import Vocabulary

@Suite("Screens")
struct ScreenTests {
    @Test("A screen of another app with the same name has no view of this app")
    func foreign() throws {
        let content = try Scene(of: "launch", in: "onboarding").content
        #expect(content.title == "launch")
    }

    @Test("Every screen has content before any document exists", arguments: AppScreens.focusPlayer.names)
    func empty(screen: String) throws {
        let content = try Scene(of: screen).content
        #expect(!content.title.isEmpty)
        #expect(!content.lines.isEmpty || !content.allActions.isEmpty)
        #expect(try Scene(of: screen).banner == nil)
    }

    @Test("A screen that the app does not know is shown by its name, with the commands that it may send")
    func unknown() throws {
        let scene = try Scene(of: "settings", commands: ["command.ThemePicked"])
        #expect(scene.content.title == "settings")
        #expect(scene.content.actions.isEmpty)
        #expect(scene.choices.map(\.type.description) == ["command.ThemePicked"])
        #expect(try Scene(of: "settings", commands: []).choices.isEmpty)
    }

    @Test("Service selection offers to connect Spotify")
    func serviceSelection() throws {
        let content = try Scene(of: "serviceSelection").content
        #expect(content.commandTypes == ["command.SpotifyAuthorizationRequested"])
    }

    @Test("Each playlist is an action with its own id, and the log-out is last")
    func playlists() throws {
        let documents = try LatestDocuments.of(
            Document.Playlists(playlists: [
                Playlist(id: "a", name: "Calm", owner: "anna", songCount: 12),
                Playlist(id: "b", name: "Rain", owner: "bert", songCount: 1),
            ]))
        let content = try Scene(of: "playlistSelection", documents: documents).content
        #expect(
            content.allActions.map(\.label) == ["Calm · anna · 12 songs", "Rain · bert · 1 song", "Log out of Spotify"])
        #expect(content.allActions.compactMap { ($0.command as? Command.PlaylistSelected)?.playlistID } == ["a", "b"])
        #expect(content.commandTypes.last == "command.SpotifyDeauthorizationRequested")
        #expect(content.lines.isEmpty)
    }

    @Test("Loading playlists and an empty list have different texts, and the log-out is always possible")
    func noPlaylists() throws {
        let loading = try Scene(of: "playlistSelection").content
        let none = try Scene(
            of: "playlistSelection", documents: try LatestDocuments.of(Document.Playlists(playlists: []))
        ).content
        let failed = try Scene(
            of: "playlistSelection",
            documents: try LatestDocuments.of(Document.Playlists(playlists: [], status: .failed))
        ).content
        #expect(Set([loading.lines, none.lines, failed.lines]).count == 3)
        #expect(loading.commandTypes == none.commandTypes && failed.commandTypes == none.commandTypes)
        #expect(!failed.isLoading)
    }

    @Test("The former playlists are shown while they are loaded again, and after that has failed")
    func reloadedPlaylists() throws {
        let calm = Playlist(id: "a", name: "Calm", owner: "anna", songCount: 12)
        for status in LoadStatus.allCases {
            let document = Document.Playlists(playlists: [calm], status: status)
            let content = try Scene(of: "playlistSelection", documents: try LatestDocuments.of(document)).content
            #expect(content.allActions.first?.label == "Calm · anna · 12 songs")
            #expect(!content.isLoading)
        }
    }

    @Test("The current song is shown with its position, and each action names its whole effect")
    func nowPlaying() throws {
        let playback = Playback(
            track: Playback.Track(title: "Rain", artist: "Anna", album: "Weather", duration: 240_000),
            isPlaying: false, position: 65_000, measuredAt: 0,
            device: Playback.Speaker(name: "Laptop", type: "Computer", volume: 95))
        let document = Document.NowPlaying(status: .following, playback: playback)
        let content = try Scene(of: "nowPlaying", documents: try LatestDocuments.of(document)).content
        #expect(
            content.lines == ["Rain · Anna · Weather", "Paused · 1:05 of 4:00", "Laptop · Computer · volume 95 %"])
        #expect(
            content.allActions.map(\.label) == [
                "Resume", "Next song", "Previous song", "Louder: 100 %", "Quieter: 85 %", "Go to the start, 0:00",
                "Go to a quarter, 1:00", "Go to the half, 2:00", "Go to three quarters, 3:00",
            ])
        #expect(content.allActions.compactMap { ($0.command as? Command.VolumeRequested)?.percent } == [100, 85])
        #expect(
            content.allActions.compactMap { ($0.command as? Command.SeekRequested)?.position } == [
                0, 60_000, 120_000, 180_000,
            ])
    }

    @Test("A player without a song or a volume has fewer actions, and one that is not followed can be followed")
    func strangePlayer() throws {
        func content(_ document: Document.NowPlaying) throws -> ScreenContent {
            try Scene(of: "nowPlaying", documents: try LatestDocuments.of(document)).content
        }
        let advertisement = Playback(track: nil, isPlaying: true, position: 1, measuredAt: 0)
        let strange = try content(Document.NowPlaying(status: .interrupted, playback: advertisement))
        #expect(strange.allActions.map(\.label) == ["Pause", "Next song", "Previous song"])
        #expect(strange.lines.last?.hasPrefix("Spotify does not answer") == true)
        #expect(try content(Document.NowPlaying(status: .following)).lines == ["Nothing is playing."])
        #expect(try content(Document.NowPlaying(status: .following)).allActions.isEmpty)
        let ended = try content(Document.NowPlaying(status: .ended))
        #expect(ended.commandTypes == ["command.NowPlayingRequested"])
        #expect(try content(Document.NowPlaying(status: .loading)).isLoading)
    }

    @Test("The progress advances with time up to the end, and not while the music is paused")
    func progress() {
        let running = ScreenContent.Progress(position: 5000, duration: 70_000, measuredAt: 1000, isRunning: true)
        let times = [0, 1, 61, 900].map { Date(timeIntervalSince1970: $0) }
        #expect(times.map(running.text) == ["0:05 of 1:10", "0:05 of 1:10", "1:05 of 1:10", "1:10 of 1:10"])
        #expect(running.timeToNextSecond(at: Date(timeIntervalSince1970: 1.25)) == .milliseconds(750))
        #expect(running.timeToNextSecond(at: times[3]) == nil)
        let paused = ScreenContent.Progress(position: 5000, duration: nil, measuredAt: 1000, isRunning: false)
        #expect(times.map(paused.text) == ["0:05", "0:05", "0:05", "0:05"])
        let strange = ScreenContent.Progress(position: .max, duration: nil, measuredAt: .min, isRunning: true)
        #expect(!strange.text(at: times[3]).isEmpty)
        #expect(paused.timeToNextSecond(at: times[1]) == nil)
        #expect(strange.timeToNextSecond(at: times[3]) == nil)
    }

    @Test("Only content that is still to arrive is loading")
    func loading() throws {
        for screen in ["playlistSelection", "generatedPlaylist", "deviceActivation"] {
            #expect(try Scene(of: screen).content.isLoading)
        }
        #expect(try !Scene(of: "serviceSelection").content.isLoading)
        let documents = try LatestDocuments.of(
            Document.Playlists(playlists: []), Document.GeneratedPlaylist(playlistID: "p", status: .failed),
            Document.Devices(devices: []))
        for screen in ["playlistSelection", "generatedPlaylist", "deviceActivation"] {
            #expect(try !Scene(of: screen, documents: documents).content.isLoading)
        }
    }

    @Test("A ready focus playlist lists its songs and can be played")
    func ready() throws {
        let documents = try LatestDocuments.of(
            Document.Playlists(playlists: [Playlist(id: "calm", name: "Calm", owner: "anna", songCount: 1)]),
            Document.GeneratedPlaylist.calm)
        let content = try Scene(
            of: "generatedPlaylist", arguments: ["playlistID": "calm"], documents: documents
        ).content
        #expect(content.title == "Calm")
        #expect(content.lines == ["1. Rain · Cloud · 3:05"])
        #expect(
            content.commandTypes == [
                "command.PlayOnSpotifyRequested", "command.DidRequestOpenPlaylistOnSpotify",
                "command.NowPlayingRequested",
            ])
    }

    @Test("A focus playlist with more songs than its document names the number of the others")
    func more() throws {
        var generated = Document.GeneratedPlaylist.calm
        generated.total = 2301
        let content = try Scene(
            of: "generatedPlaylist", documents: try LatestDocuments.of(generated)
        ).content
        #expect(content.lines == ["1. Rain · Cloud · 3:05", "… and 2300 more"])
        #expect(content.commandTypes.last == "query.PlaylistSongs")
    }

    @Test("The document of another playlist is never shown")
    func stale() throws {
        let content = try Scene(
            of: "generatedPlaylist", arguments: ["playlistID": "q"],
            documents: try LatestDocuments.of(Document.GeneratedPlaylist.calm)
        ).content
        #expect(content.lines == ["Shuffling…"])
        #expect(content.actions.isEmpty)
    }

    @Test(
        "A playlist without songs cannot be played, and shows the reason",
        arguments: LoadStatus.allCases)
    func unplayable(status: LoadStatus) throws {
        let content = try Scene(
            of: "generatedPlaylist",
            documents: try LatestDocuments.of(Document.GeneratedPlaylist(playlistID: "p", status: status))
        ).content
        #expect(content.actions.isEmpty)
        #expect(content.lines.count == 1)
    }

    @Test("Each device is an action with its own id, and Spotify can be opened to add one")
    func devices() throws {
        let documents = try LatestDocuments.of(
            Document.Devices(devices: [Speaker(id: "k", name: "Kitchen", type: "Speaker", isActive: true)]))
        let content = try Scene(of: "deviceActivation", documents: documents).content
        #expect(content.allActions.map(\.label) == ["Kitchen · Speaker · active", "Open Spotify"])
        #expect(content.allActions.compactMap { ($0.command as? Command.DeviceSelected)?.deviceID } == ["k"])
        #expect(content.commandTypes.last == "command.OpenAnotherAppRequested")
    }

    @Test("The playlist can be opened in Spotify without Premium")
    func premium() throws {
        let content = try Scene(of: "premiumRequired").content
        #expect(content.commandTypes == ["command.DidRequestOpenPlaylistOnSpotify"])
    }

    @Test("A command that the flow does not let a screen send is not an action")
    func limited() throws {
        let documents = try LatestDocuments.of(Document.GeneratedPlaylist.calm)
        let some = try Scene(
            of: "generatedPlaylist", documents: documents, commands: ["command.PlayOnSpotifyRequested"]
        ).content
        #expect(some.commandTypes == ["command.PlayOnSpotifyRequested"])
        let none = try Scene(of: "generatedPlaylist", documents: documents, commands: []).content
        #expect(none.actions.isEmpty)
    }
}

@Suite("Error banner")
struct BannerTests {
    let error = ApplicationError(code: "a.b", message: "It broke", recovery: "Mend it.", severity: .warning)

    @Test(
        "The banner is over any screen, shows the number of waiting errors, and is dismissed by its id",
        arguments: ["launch", "nowhere"])
    func shown(screen: String) throws {
        let documents = try LatestDocuments.of(Document.ErrorBanner(errorID: "e1", error: error, waiting: 2))
        let scene = try Scene(of: screen, documents: documents)
        let banner = try #require(scene.banner)
        #expect(banner.message == "It broke")
        #expect(banner.recovery == "Mend it.")
        #expect(banner.severity == .warning)
        #expect(banner.waiting == 2)
        #expect((scene.bannerDismissal?.command as? Command.ErrorDismissed)?.errorID == "e1")
    }

    @Test("The banner can be dismissed even if the flow allows no command")
    func unlimited() throws {
        let documents = try LatestDocuments.of(Document.ErrorBanner(errorID: "e1", error: error))
        #expect(try Scene(of: "launch", documents: documents, commands: []).banner != nil)
    }

    @Test("An empty document has no banner")
    func hidden() throws {
        let documents = try LatestDocuments.of(
            Document.ErrorBanner(errorID: "e1", error: error), Document.ErrorBanner())
        #expect(try Scene(of: "launch", documents: documents).banner == nil)
    }
}

extension Scene {
    /// The scene of one screen.
    fileprivate init(
        of screen: String, in flow: String = "focus-player", arguments: [String: JSONValue] = [:],
        documents: LatestDocuments = LatestDocuments(), commands: [String]? = nil
    ) throws {
        var snapshot = try NavigationSnapshot.sample(flow: flow, root: screen)
        snapshot.state.root.instance.arguments = arguments
        if let commands { snapshot.commands = commands }
        self.init(player: snapshot, documents: documents)
    }

    fileprivate var content: ScreenContent { layers[0].content }
}

extension ScreenContent {
    fileprivate var commandTypes: [String] { allActions.map(\.type.description) }
}
