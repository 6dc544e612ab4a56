import Contracts
import EventBus
import Foundation
import Music
import Support
import Testing
import Vocabulary

@Suite("Playlists")
struct GeneratePlaylistTests {
    func service(_ repository: StaticRepository) -> MusicService {
        MusicService(repository: repository, player: ScriptedPlayer())
    }

    func generate(_ repository: StaticRepository, messageID: String = "m") async throws -> [any Message] {
        try await service(repository).generatePlaylist(
            for: Command.PlaylistSelected(playlistID: "p"), messageID: messageID)
    }

    @Test("Loaded playlists are published as a document first, then as an event")
    func load() async throws {
        let playlist = Playlist(id: "p", name: "Calm", owner: "anna", songCount: 3)
        let messages = try await service(StaticRepository(lists: .success([playlist]))).loadPlaylists()
        #expect(messages.types == ["document.Playlists", "event.PlaylistsLoaded"])
        #expect(messages.first(Document.Playlists.self)?.playlists == [playlist])
    }

    @Test("Playlists that cannot be loaded are an error, and the document has the former playlists")
    func loadFails() async throws {
        let playlist = Playlist(id: "p", name: "Calm", owner: "anna", songCount: 3)
        let repository = StaticRepository(lists: .failure(MusicError.unavailable("status 503")))
        let messages = try await service(repository).loadPlaylists(known: [playlist])
        #expect(messages.types == ["document.Playlists", "error.ApplicationError"])
        #expect(messages.first(Document.Playlists.self)?.playlists == [playlist])
        #expect(messages.first(Document.Playlists.self)?.status == .failed)
        #expect(messages.errorCodes == ["spotify.unavailable"])
    }

    @Test("An account that is disconnected while its playlists are loaded is not an error")
    func disconnected() async throws {
        let messages = try await service(StaticRepository(lists: .failure(MusicError.notAuthorized))).loadPlaylists()
        #expect(messages.types == ["document.Playlists"])
        #expect(messages.first(Document.Playlists.self)?.status == .failed)
    }

    @Test("A document of an earlier version, without a status, is ready")
    func withoutStatus() throws {
        let document = try JSONDecoder().decode(Document.Playlists.self, from: Data(#"{"playlists":[]}"#.utf8))
        #expect(document.status == .ready)
    }

    @Test("A selected playlist is loading, then ready with every song in an order given by the command's id")
    func generated() async throws {
        let songs = (0..<30).map(Song.fixture)
        let result = try await generate(StaticRepository(contents: .success(songs)), messageID: "m1")

        let loading = Command.PlaylistSelected(playlistID: "p").loading
        #expect(loading.status == .loading)
        #expect(loading.playlistID == "p")
        #expect(loading.songs.isEmpty)
        #expect(result.types == ["document.GeneratedPlaylist", "event.PlaylistShuffled"])
        let ready = try #require(result.first(Document.GeneratedPlaylist.self))
        #expect(ready.status == .ready)
        #expect(ready.songs == songs.shuffled(seed: "m1"))
    }

    @Test("A playlist of any length fits into a message: the document has the first songs, queries the others")
    func long() async throws {
        let songs = (0..<10_000).map { number in
            var song = Song.fixture(number)
            song.title = String(repeating: "long \(number) ", count: 100)
            return song
        }
        let repository = StaticRepository(contents: .success(songs), kept: ["p": songs])
        let generated = try #require(
            try await generate(repository).first(Document.GeneratedPlaylist.self))
        #expect(generated.status == .ready && generated.total == songs.count)
        #expect(try JSONWriter.data(of: generated).count <= Song.pageSize + 200)
        var all = generated.songs
        var requests = 0
        while all.count < generated.total {
            let query = Query.PlaylistSongs(playlistID: "p", offset: all.count)
            let page = try await service(repository).songs(for: query, inOrderOf: "m")
            #expect(page.total == generated.total)
            #expect(try JSONWriter.data(of: page).count <= Song.pageSize + 200)
            try #require(!page.songs.isEmpty)
            all += page.songs
            requests += 1
        }
        #expect(all == songs.shuffled(seed: "m"))
        #expect(requests > 10)
        let after = Query.PlaylistSongs(playlistID: "p", offset: generated.total)
        #expect(try await service(repository).songs(for: after).songs.isEmpty)
    }

    @Test("A song that is longer than a page is a page of its own")
    func longSong() {
        var song = Song.fixture(1)
        song.title = String(repeating: "x", count: Song.pageSize)
        #expect(Song.page(of: [song, .fixture(2)][...]) == [song])
        #expect(Song.page(of: [.fixture(2), song][...]) == [.fixture(2)])
    }

    @Test("A repeated command gives the same order, and another one gives another order")
    func repeated() async throws {
        let repository = StaticRepository(contents: .success((0..<30).map(Song.fixture)))
        func order(_ id: String) async throws -> [Song]? {
            try await generate(repository, messageID: id).first(Document.GeneratedPlaylist.self)?.songs
        }
        #expect(try await order("m1") == order("m1"))
        #expect(try await order("m1") != order("m2"))
    }

    @Test("An unknown playlist fails with an error and a failed document")
    func unknown() async throws {
        let result = try await generate(
            StaticRepository(contents: .failure(MusicError.notFound(.playlist("p")))))
        #expect(result.types == ["document.GeneratedPlaylist", "error.ApplicationError"])
        #expect(result.first(Document.GeneratedPlaylist.self)?.status == .failed)
        #expect(result.first(ApplicationError.self)?.message.contains("the playlist p") == true)
    }

    @Test("The end of the access is reported once, and the document fails without another error")
    func accessEnded() async throws {
        let result = try await generate(StaticRepository(contents: .failure(MusicError.authorizationEnded)))
        #expect(result.types == ["document.GeneratedPlaylist"])
        #expect(result.first(Document.GeneratedPlaylist.self)?.status == .failed)
    }

    @Test("Cancelled work publishes nothing, because it will be repeated")
    func cancelled() async {
        await #expect(throws: CancellationError.self) {
            try await generate(StaticRepository(contents: .failure(CancellationError())))
        }
    }

    @Test("A query for the songs of a playlist is answered with the stored songs, or with an error")
    func query() async throws {
        let songs = [Song.fixture(1), .fixture(2)]
        let service = service(StaticRepository(contents: .failure(MusicError.unavailable("away")), kept: ["p": songs]))
        #expect(try await service.songs(for: Query.PlaylistSongs(playlistID: "p")).songs == songs)
        let error = await #expect(throws: ApplicationError.self) {
            try await service.songs(for: Query.PlaylistSongs(playlistID: "q\u{202E}\n"))
        }
        #expect(error?.code == "music.unknown-playlist")
        #expect(error?.message.contains("q") == false, "an id of any text is not shown")
    }
}
