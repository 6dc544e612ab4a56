import Foundation
import GRDB
import Logging
import Music
import Repositories
import Synchronization
import TestSupport
import Testing
import Vocabulary

@Suite("Playlist repository")
struct KeepingPlaylistRepositoryTests {
    let catalog = ScriptedCatalog(songs: Self.songs(0..<3))
    let clock = TestClock()
    let queue: DatabaseQueue
    let database: SongDatabase

    init() throws {
        queue = try DatabaseQueue()
        database = try SongDatabase(queue)
    }

    static func songs(_ range: Range<Int>) -> [Song] {
        range.map {
            Song(id: "s\($0)", uri: "spotify:track:s\($0)", title: "Song \($0)", artist: "A", duration: 1000 * $0)
        }
    }

    /// - Parameter database: nil for the database of the suite.
    func repository(_ database: SongDatabase? = nil) -> KeepingPlaylistRepository {
        KeepingPlaylistRepository(
            catalog: catalog, database: database ?? self.database, lifetime: .seconds(600),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { clock.now })
    }

    @Test("Songs are fetched once, and come from the database in their order while they are fresh")
    func fresh() async throws {
        #expect(try await repository().songs(of: "p") == Self.songs(0..<3))
        clock.advance(by: .seconds(599))
        #expect(try await repository().songs(of: "p") == Self.songs(0..<3))
        #expect(await catalog.songRequests == 1)
    }

    @Test("Songs that are no longer fresh are fetched again, and replace the old ones")
    func stale() async throws {
        _ = try await repository().songs(of: "p")
        await catalog.change(songs: Self.songs(2..<4))
        clock.advance(by: .seconds(600))
        #expect(try await repository().songs(of: "p") == Self.songs(2..<4))
        #expect(try await repository().songs(of: "p") == Self.songs(2..<4))
        #expect(await catalog.songRequests == 2)
    }

    @Test("What is kept can be had without the catalog, fresh or not; what never was fetched is none")
    func kept() async throws {
        #expect(try await repository().keptSongs(of: "p") == nil)
        _ = try await repository().songs(of: "p")
        clock.advance(by: .seconds(86_400))
        #expect(try await repository().keptSongs(of: "p") == Self.songs(0..<3))
        #expect(try await repository().keptSongs(of: "another") == nil)
        #expect(await catalog.songRequests == 1)
        await repository().forget()
        #expect(try await repository().keptSongs(of: "p") == nil)
    }

    @Test("A clock that was set back makes nothing fresh for ever")
    func clockSetBack() async throws {
        _ = try await repository().songs(of: "p")
        clock.advance(by: .seconds(-10))
        _ = try await repository().songs(of: "p")
        #expect(await catalog.songRequests == 2)
    }

    @Test(
        "When Spotify is away what is kept is better than nothing",
        arguments: [MusicError.unavailable("status 503"), .rateLimited(retryAfter: nil)])
    func fallback(error: MusicError) async throws {
        _ = try await repository().songs(of: "p")
        clock.advance(by: .seconds(86_400))
        await catalog.fail(with: error)
        #expect(try await repository().songs(of: "p") == Self.songs(0..<3))
        await #expect(throws: error) { try await repository().songs(of: "another") }
    }

    @Test(
        "What Spotify refuses is not covered up with what is kept",
        arguments: [MusicError.notFound("the playlist p"), .authorizationEnded, .forbidden("no")])
    func refusal(error: MusicError) async throws {
        _ = try await repository().songs(of: "p")
        clock.advance(by: .seconds(600))
        await catalog.fail(with: error)
        await #expect(throws: error) { try await repository().songs(of: "p") }
    }

    @Test("Another account never sees what was kept for the first one")
    func accounts() async throws {
        _ = try await repository().songs(of: "p")
        await catalog.change(account: "bert", songs: Self.songs(5..<6))
        #expect(try await repository().playlists().map(\.owner) == ["bert"])
        #expect(try await repository().songs(of: "p") == Self.songs(5..<6))

        await catalog.change(account: "anna")
        _ = try await repository().playlists()
        #expect(try await repository().songs(of: "p") == Self.songs(0..<3))
    }

    @Test("A forgotten account leaves nothing in the database")
    func forget() async throws {
        _ = try await repository().playlists()
        _ = try await repository().songs(of: "p")
        await repository().forget()
        let rows = try await queue.read { database in
            try ["account", "playlist", "song"].map { try Table($0).fetchCount(database) }
        }
        #expect(rows == [0, 0, 0])
        _ = try await repository().songs(of: "p")
        #expect(await catalog.songRequests == 2)
    }

    @Test("What is kept survives the process, in a file")
    func persistence() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let path = scratch.url.appending(path: "songs.sqlite")
        _ = try await repository(SongDatabase(path: path.path)).songs(of: "p")
        await catalog.fail(with: .unavailable("down"))
        #expect(try await repository(SongDatabase(path: path.path)).songs(of: "p") == Self.songs(0..<3))
    }

    @Test("A database that fails costs only its help")
    func brokenDatabase() async throws {
        try await queue.write { database in
            for table in ["song", "playlist", "account"] { try database.drop(table: table) }
        }
        #expect(try await repository().playlists().count == 1)
        #expect(try await repository().songs(of: "p") == Self.songs(0..<3))
        await repository().forget()
    }

    @Test("A file that is no database is one clear error when it is opened")
    func foreignFile() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let path = scratch.url.appending(path: "songs.sqlite")
        try Data("this is no database, whatever its name says".utf8).write(to: path)
        let error = #expect(throws: SongDatabaseError.self) { try SongDatabase(path: path.path) }
        #expect(error?.message.contains(path.path) == true)
    }

    @Test("The same song twice in a playlist stays there twice; an empty playlist is kept too")
    func oddPlaylists() async throws {
        let twice = Self.songs(0..<1) + Self.songs(0..<1)
        await catalog.change(songs: twice)
        _ = try await repository().songs(of: "twice")
        #expect(try await repository().songs(of: "twice") == twice)
        await catalog.change(songs: [])
        _ = try await repository().songs(of: "none")
        #expect(try await repository().songs(of: "none").isEmpty)
        #expect(await catalog.songRequests == 2)
    }
}

/// A catalog whose content can be changed, which can be unavailable, and which counts its calls.
actor ScriptedCatalog: MusicCatalog {
    private(set) var songRequests = 0
    private(set) var accountRequests = 0
    private var accountID: String
    private var contents: [Song]
    private var failure: MusicError?

    init(account: String = "anna", songs: [Song] = []) {
        accountID = account
        contents = songs
    }

    func change(account: String? = nil, songs: [Song]? = nil) {
        accountID = account ?? accountID
        contents = songs ?? contents
    }

    func fail(with error: MusicError?) {
        failure = error
    }

    func account() throws -> String {
        accountRequests += 1
        if let failure { throw failure }
        return accountID
    }

    func playlists() throws -> [Playlist] {
        if let failure { throw failure }
        return [Playlist(id: "p", name: "Calm", owner: accountID, songCount: contents.count)]
    }

    func songs(of playlistID: Playlist.ID) throws -> [Song] {
        songRequests += 1
        if let failure { throw failure }
        return contents
    }
}

/// A clock that a test sets.
final class TestClock: Sendable {
    private let seconds = Mutex(1_000_000.0)

    var now: Date { Date(timeIntervalSince1970: seconds.withLock(\.self)) }

    func advance(by duration: Duration) {
        seconds.withLock { $0 += duration / .seconds(1) }
    }
}
