import Contracts
import EventBus
import Presentation
import Testing
import Vocabulary

@Suite("Screens")
struct ScreenTests {
    @Test("A screen of another app's flow that is called alike is none of these")
    func foreign() {
        let content = ScreenRegistry.content(of: "launch", in: "onboarding", documents: LatestDocuments())
        #expect(content.title == "launch")
    }

    @Test("Every screen has something to show before any document is there", arguments: ScreenRegistry.screens.keys)
    func empty(screen: String) {
        let content = ScreenRegistry.content(of: screen, documents: LatestDocuments())
        #expect(!content.title.isEmpty)
        #expect(!content.rows.isEmpty || !content.actions.isEmpty)
        #expect(content.banner == nil)
    }

    @Test("A screen that a flow knows and this app does not is shown by its name, with nothing to do")
    func unknown() {
        let content = ScreenRegistry.content(of: "settings", documents: LatestDocuments())
        #expect(content.title == "settings")
        #expect(content.actions.isEmpty)
    }

    @Test("Service selection offers to connect Spotify")
    func serviceSelection() {
        let content = ScreenRegistry.content(of: "serviceSelection", documents: LatestDocuments())
        #expect(content.commandTypes == ["command.SpotifyAuthorizationRequested"])
    }

    @Test("Each playlist is an action with its own id; logging out comes last")
    func playlists() throws {
        let documents = try LatestDocuments(
            Document.Playlists(playlists: [
                Playlist(id: "a", name: "Calm", owner: "anna", songCount: 12),
                Playlist(id: "b", name: "Rain", owner: "bert", songCount: 1),
            ]))
        let content = ScreenRegistry.content(of: "playlistSelection", documents: documents)
        #expect(
            content.actions.map(\.label) == ["Calm · anna · 12 songs", "Rain · bert · 1 song", "Log out of Spotify"])
        #expect(content.actions.compactMap { ($0.command as? Command.PlaylistSelected)?.playlistID } == ["a", "b"])
        #expect(content.commandTypes.last == "command.SpotifyDeauthorizationRequested")
        #expect(content.rows.isEmpty)
    }

    @Test("Loading playlists and having none read differently, and logging out is always there")
    func noPlaylists() throws {
        let loading = ScreenRegistry.content(of: "playlistSelection", documents: LatestDocuments())
        let none = ScreenRegistry.content(
            of: "playlistSelection", documents: try LatestDocuments(Document.Playlists(playlists: [])))
        #expect(loading.rows != none.rows)
        #expect(loading.commandTypes == none.commandTypes)
    }

    @Test("What is still to come is loading; what is there, empty or failed is not")
    func loading() throws {
        for screen in ["playlistSelection", "generatedPlaylist", "deviceActivation"] {
            #expect(ScreenRegistry.content(of: screen, documents: LatestDocuments()).isLoading)
        }
        #expect(!ScreenRegistry.content(of: "serviceSelection", documents: LatestDocuments()).isLoading)
        let documents = try LatestDocuments(
            Document.Playlists(playlists: []), Document.GeneratedPlaylist(playlistID: "p", status: .failed),
            Document.Devices(devices: []))
        for screen in ["playlistSelection", "generatedPlaylist", "deviceActivation"] {
            #expect(!ScreenRegistry.content(of: screen, documents: documents).isLoading)
        }
    }

    @Test("A ready focus playlist lists its songs and can be played")
    func ready() throws {
        let documents = try LatestDocuments(
            Document.Playlists(playlists: [Playlist(id: "p", name: "Calm", owner: "anna", songCount: 1)]),
            Document.GeneratedPlaylist.ready)
        let content = ScreenRegistry.content(
            of: "generatedPlaylist", arguments: ["playlistID": "p"], documents: documents)
        #expect(content.title == "Calm")
        #expect(content.rows == ["1. Rain · Cloud · 3:05"])
        #expect(
            content.commandTypes == ["command.PlayOnSpotifyRequested", "command.DidRequestOpenPlaylistOnSpotify"])
    }

    @Test("The document of another playlist never shows")
    func stale() throws {
        let content = ScreenRegistry.content(
            of: "generatedPlaylist", arguments: ["playlistID": "q"],
            documents: try LatestDocuments(Document.GeneratedPlaylist.ready))
        #expect(content.rows == ["Shuffling…"])
        #expect(content.actions.isEmpty)
    }

    @Test(
        "A playlist without songs cannot be played, and says why",
        arguments: Document.GeneratedPlaylist.Status.allCases)
    func unplayable(status: Document.GeneratedPlaylist.Status) throws {
        let content = ScreenRegistry.content(
            of: "generatedPlaylist",
            documents: try LatestDocuments(Document.GeneratedPlaylist(playlistID: "p", status: status)))
        #expect(content.actions.isEmpty)
        #expect(content.rows.count == 1)
    }

    @Test("Each device is an action with its own id, and Spotify can be opened to have one more")
    func devices() throws {
        let documents = try LatestDocuments(
            Document.Devices(devices: [Device(id: "k", name: "Kitchen", type: "Speaker", isActive: true)]))
        let content = ScreenRegistry.content(of: "deviceActivation", documents: documents)
        #expect(content.actions.map(\.label) == ["Kitchen · Speaker · active", "Open Spotify"])
        #expect(content.actions.compactMap { ($0.command as? Command.DeviceSelected)?.deviceID } == ["k"])
        #expect(content.commandTypes.last == "command.OpenAnotherAppRequested")
    }

    @Test("Without Premium the playlist can be opened in Spotify")
    func premium() {
        let content = ScreenRegistry.content(of: "premiumRequired", documents: LatestDocuments())
        #expect(content.commandTypes == ["command.DidRequestOpenPlaylistOnSpotify"])
    }

    @Test("What the flow does not let a screen send is not offered")
    func limited() throws {
        let documents = try LatestDocuments(Document.GeneratedPlaylist.ready)
        let some = ScreenRegistry.content(
            of: "generatedPlaylist", documents: documents, commands: ["command.PlayOnSpotifyRequested"])
        #expect(some.commandTypes == ["command.PlayOnSpotifyRequested"])
        let none = ScreenRegistry.content(of: "generatedPlaylist", documents: documents, commands: [])
        #expect(none.actions.isEmpty)
    }
}

@Suite("Error banner")
struct BannerTests {
    let error = ApplicationError(code: "a.b", message: "It broke", recovery: "Mend it.", severity: .warning)

    @Test("It lies over any screen, names what waits, and is dismissed by its id", arguments: ["launch", "nowhere"])
    func shown(screen: String) throws {
        let documents = try LatestDocuments(Document.ErrorBanner(errorID: "e1", error: error, waiting: 2))
        let banner = try #require(ScreenRegistry.content(of: screen, documents: documents).banner)
        #expect(banner.message == "It broke")
        #expect(banner.recovery == "Mend it.")
        #expect(banner.severity == .warning)
        #expect(banner.waiting == 2)
        #expect((banner.dismissal.command as? Command.ErrorDismissed)?.errorID == "e1")
    }

    @Test("It can be dismissed even where the flow allows no command at all")
    func unlimited() throws {
        let documents = try LatestDocuments(Document.ErrorBanner(errorID: "e1", error: error))
        #expect(ScreenRegistry.content(of: "launch", documents: documents, commands: []).banner != nil)
    }

    @Test("An empty document shows none")
    func hidden() throws {
        let documents = try LatestDocuments(Document.ErrorBanner(errorID: "e1", error: error), Document.ErrorBanner())
        #expect(ScreenRegistry.content(of: "launch", documents: documents).banner == nil)
    }
}
