import Foundation
import GRDB
import Logging
import Music
import Synchronization
import TestSupport
import Testing
import Vocabulary

@testable import Repositories

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
    func repository(
        _ database: SongDatabase? = nil, session: String = "default", catalog: ScriptedCatalog? = nil
    ) -> KeepingPlaylistRepository {
        KeepingPlaylistRepository(
            catalog: catalog ?? self.catalog, database: database ?? self.database, session: session,
            lifetime: .seconds(600),
            logger: .silent, now: { clock.now })
    }

    @Test("Songs are fetched once, and are read from the database in their order while they are fresh")
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

    @Test("Stored songs can be read without the catalogue, fresh or not, and others cannot")
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

    @Test("A title with the character U+0000 is stored whole")
    func nullCharacter() async throws {
        let song = Song(id: "s", uri: "u", title: "Rain\0fall", artist: "A\0B", duration: 1)
        await catalog.change(songs: [song])
        _ = try await repository().songs(of: "p")
        let kept = try #require(try await repository().keptSongs(of: "p")?.first)
        #expect(kept.title == "Rain\u{FFFD}fall" && kept.artist == "A\u{FFFD}B")
    }

    @Test("A playlist whose id contains U+0000 differs from one with the text before it")
    func nullCharacterInID() async throws {
        _ = try await repository().songs(of: "a")
        #expect(try await repository().keptSongs(of: "a\0b") == nil)
        await catalog.change(songs: Self.songs(5..<6))
        #expect(try await repository().songs(of: "a\0b") == Self.songs(5..<6))
        #expect(try await repository().keptSongs(of: "a\0b") == Self.songs(5..<6))
        #expect(try await repository().keptSongs(of: "a") == Self.songs(0..<3))
    }

    @Test("A clock that was set back keeps nothing fresh forever")
    func clockSetBack() async throws {
        _ = try await repository().songs(of: "p")
        clock.advance(by: .seconds(-10))
        _ = try await repository().songs(of: "p")
        #expect(await catalog.songRequests == 2)
    }

    @Test(
        "Stored songs are used while Spotify is away",
        arguments: [MusicError.unavailable("status 503"), .rateLimited(retryAfter: nil)])
    func fallback(error: MusicError) async throws {
        _ = try await repository().songs(of: "p")
        clock.advance(by: .seconds(86_400))
        await catalog.fail(with: error)
        #expect(try await repository().songs(of: "p") == Self.songs(0..<3))
        await #expect(throws: error) { try await repository().songs(of: "another") }
    }

    @Test(
        "An impossible time or number makes nothing fresh, and does not trap",
        arguments: ["9e999", "-9e999", "1e300", "9223372036854775807"])
    func hostileNumbers(value: String) async throws {
        _ = try await repository().songs(of: "p")
        try await queue.write { try $0.execute(sql: "UPDATE playlist SET fetchedAt = \(value)") }
        try await queue.write { try $0.execute(sql: "UPDATE song SET duration = 9223372036854775807") }
        await catalog.fail(with: .unavailable("status 503"))
        #expect(try await repository().songs(of: "p").allSatisfy { $0.duration == 9_007_199_254_740_991 })
        #expect(await catalog.songRequests == 2)
    }

    @Test(
        "A refusal of Spotify is not hidden by stored songs",
        arguments: [MusicError.notFound(.playlist("p")), .authorizationEnded, .forbidden("no")])
    func refusal(error: MusicError) async throws {
        _ = try await repository().songs(of: "p")
        clock.advance(by: .seconds(600))
        await catalog.fail(with: error)
        await #expect(throws: error) { try await repository().songs(of: "p") }
    }

    @Test("Another account never reads the songs of the first one")
    func accounts() async throws {
        _ = try await repository().songs(of: "p")
        await catalog.change(account: "bert", songs: Self.songs(5..<6))
        #expect(try await repository().playlists().map(\.owner) == ["bert"])
        #expect(try await repository().songs(of: "p") == Self.songs(5..<6))

        await catalog.change(account: "anna")
        _ = try await repository().playlists()
        #expect(try await repository().songs(of: "p") == Self.songs(0..<3))
    }

    @Test("Sessions share neither the account nor the songs, and removing one keeps the other")
    func sessions() async throws {
        let bert = ScriptedCatalog(account: "bert", songs: Self.songs(5..<6))
        _ = try await repository().songs(of: "p")
        #expect(try await repository(session: "second").keptSongs(of: "p") == nil)
        #expect(try await repository(session: "second", catalog: bert).songs(of: "p") == Self.songs(5..<6))
        #expect(try await repository().songs(of: "p") == Self.songs(0..<3))
        // The same account in a third session is fetched for this session.
        _ = try await repository(session: "third").songs(of: "p")
        #expect(await catalog.songRequests == 2)

        await repository().forget()
        #expect(try await repository().keptSongs(of: "p") == nil)
        #expect(try await repository(session: "second").keptSongs(of: "p") == Self.songs(5..<6))
        #expect(try await repository(session: "third").keptSongs(of: "p") == Self.songs(0..<3))
    }

    @Test("A session keeps a limited number of playlists, the last ones that were fetched")
    func limit() async throws {
        _ = try await repository(session: "second").songs(of: "p0")
        for number in 0...SongDatabase.maximumPlaylists {
            clock.advance(by: .milliseconds(10))
            _ = try await repository().songs(of: "p\(number)")
        }
        #expect(try await repository().keptSongs(of: "p0") == nil)
        #expect(try await repository().keptSongs(of: "p1") != nil)
        #expect(try await repository().keptSongs(of: "p\(SongDatabase.maximumPlaylists)") != nil)
        #expect(try await repository(session: "second").keptSongs(of: "p0") != nil)
    }

    @Test("A database of the previous version belongs to the session default")
    func migration() async throws {
        let earlier = try DatabaseQueue()
        try await earlier.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT INTO grdb_migrations VALUES ('1: accounts, playlists, songs');
                    CREATE TABLE account (slot INTEGER PRIMARY KEY CHECK (slot = 0), id TEXT NOT NULL);
                    CREATE TABLE playlist (account TEXT NOT NULL, playlistID TEXT NOT NULL, fetchedAt REAL NOT NULL,
                        PRIMARY KEY (account, playlistID)) STRICT, WITHOUT ROWID;
                    CREATE TABLE song (account TEXT NOT NULL, playlistID TEXT NOT NULL, position INTEGER NOT NULL,
                        id TEXT NOT NULL, uri TEXT NOT NULL, title TEXT NOT NULL, artist TEXT NOT NULL,
                        duration INTEGER NOT NULL, PRIMARY KEY (account, playlistID, position),
                        FOREIGN KEY (account, playlistID) REFERENCES playlist ON DELETE CASCADE) STRICT, WITHOUT ROWID;
                    INSERT INTO account VALUES (0, 'anna');
                    INSERT INTO playlist VALUES ('anna', 'p', 1000000);
                    INSERT INTO song VALUES ('anna', 'p', 0, 's0', 'spotify:track:s0', 'Song 0', 'A', 0);
                    """)
        }
        let migrated = try SongDatabase(earlier)
        #expect(try await repository(migrated).keptSongs(of: "p") == Self.songs(0..<1))
        #expect(try await repository(migrated).songs(of: "p") == Self.songs(0..<1), "they are fresh")
        #expect(try await repository(migrated, session: "second").keptSongs(of: "p") == nil)
        await repository(migrated).forget()
        let rows = try await earlier.read { try Table("song").fetchCount($0) }
        #expect(rows == 0, "the foreign key is migrated, too")
        #expect(await catalog.songRequests == 0)
    }

    @Test("A removed account leaves nothing in the database")
    func forget() async throws {
        _ = try await repository().playlists()
        _ = try await repository().songs(of: "p")
        await repository().forget()
        #expect(try await rowCounts() == [0, 0, 0])
        _ = try await repository().songs(of: "p")
        #expect(await catalog.songRequests == 2)
    }

    @Test("Songs that arrive after a log-out, or after another account was connected, are not stored")
    func accountChangesMeanwhile() async throws {
        await catalog.beforeSongs { await repository().forget() }
        #expect(try await repository().songs(of: "p") == Self.songs(0..<3))
        #expect(try await rowCounts() == [0, 0, 0])

        await catalog.beforeSongs {
            await catalog.change(account: "bert")
            _ = try? await repository().playlists()
        }
        _ = try await repository().songs(of: "p")
        #expect(try await rowCounts() == [1, 0, 0])
    }

    /// The numbers of stored accounts, playlists and songs.
    private func rowCounts() async throws -> [Int] {
        try await queue.read { database in
            try ["account", "playlist", "song"].map { try Table($0).fetchCount(database) }
        }
    }

    @Test("Stored songs survive the process in a file")
    func persistence() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let path = scratch.url.appending(path: "songs.sqlite")
        _ = try await repository(SongDatabase(path: path.path)).songs(of: "p")
        await catalog.fail(with: .unavailable("down"))
        #expect(try await repository(SongDatabase(path: path.path)).songs(of: "p") == Self.songs(0..<3))
    }

    @Test("Only its user can read the file, also one of an earlier version")
    func mode() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let path = scratch.path("songs.sqlite")
        for earlier in [nil, 0o644] {
            if let earlier { try FileManager.default.setAttributes([.posixPermissions: earlier], ofItemAtPath: path) }
            _ = try SongDatabase(path: path)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("A database that fails does not prevent the fetch")
    func brokenDatabase() async throws {
        try await queue.write { database in
            for table in ["song", "playlist", "account"] { try database.drop(table: table) }
        }
        #expect(try await repository().playlists().count == 1)
        #expect(try await repository().songs(of: "p") == Self.songs(0..<3))
        await repository().forget()
    }

    @Test("A file that is not a database is one clear error when it is opened")
    func foreignFile() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let path = scratch.url.appending(path: "songs.sqlite")
        try Data("this is no database, whatever its name says".utf8).write(to: path)
        let error = #expect(throws: SongDatabaseError.self) { try SongDatabase(path: path.path) }
        #expect(error?.message.contains(path.path) == true)
    }

    @Test("A song that is in a playlist twice is stored twice, and an empty playlist is stored too")
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
    private var beforeSongs: @Sendable () async -> Void = {}

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

    /// Runs an operation during each further request for songs.
    func beforeSongs(_ operation: @escaping @Sendable () async -> Void) {
        beforeSongs = operation
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

    func songs(of playlistID: Playlist.ID) async throws -> [Song] {
        songRequests += 1
        await beforeSongs()
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
