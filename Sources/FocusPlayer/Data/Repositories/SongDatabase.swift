internal import Foundation
package import GRDB
internal import Support
internal import SystemSupport
internal import Vocabulary

/// The songs of playlists as they were last fetched for the account of each session, in SQLite. Sessions share nothing,
/// even if they have the same account.
package struct SongDatabase: Sendable {
    /// The maximum number of playlists of a session. The playlists that were fetched first are removed.
    static let maximumPlaylists = 100

    private let writer: any DatabaseWriter

    /// Opens a database and migrates its schema.
    /// - Throws: `DatabaseError`.
    package init(_ writer: any DatabaseWriter) throws {
        self.writer = writer
        try Self.migrator.migrate(writer)
    }

    /// Opens the file at `path`, and creates it if it does not exist. Its directory must exist. Only this user can read
    /// it.
    /// - Throws: ``SongDatabaseError``.
    package init(path: String) throws {
        var configuration = Configuration()
        // An earlier process that is stopping may still have locked the file.
        configuration.busyMode = .timeout(5)
        do {
            try PrivateFile.claim(path)
            // check-lines: the file was claimed in the line before.
            try self.init(DatabaseQueue(path: path, configuration: configuration))
        } catch let error as SystemError {
            throw SongDatabaseError(message: "\(path) cannot be used as the song database: \(error.reason)")
        } catch let error as DatabaseError {
            throw SongDatabaseError(
                message: "\(path) cannot be used as the song database: \(error.message ?? "\(error.resultCode)")")
        } catch is RowDecodingError {
            throw SongDatabaseError(message: "\(path) cannot be used as the song database: it is damaged")
        }
    }

    /// The id of the account that a session last used. Nil if it has used none since the last ``clear(_:)``.
    func currentAccount(of session: String) async throws -> String? {
        try await writer.read { try Self.currentAccount(of: session, $0) }
    }

    private static func currentAccount(of session: String, _ database: Database) throws -> String? {
        try String.fetchOne(database, sql: "SELECT id FROM account WHERE session = ?", arguments: [session])
    }

    func setCurrentAccount(_ id: String, of session: String) async throws {
        try await writer.write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO account (session, id) VALUES (?, ?)", arguments: [session, id])
        }
    }

    /// Returns the stored songs. Nil if no songs of the playlist are stored for this account in this session.
    func songs(of playlistID: String, for account: SessionAccount) async throws -> KeptSongs? {
        try await writer.read { database in
            guard let kept = try KeptPlaylist.of(playlistID, for: account).fetchOne(database) else { return nil }
            let songs = try KeptSong.of(playlistID, for: account).order(Column("position")).fetchAll(database)
            return KeptSongs(songs: songs.map(\.song), fetchedAt: kept.date)
        }
    }

    /// Replaces the stored songs of a playlist in one transaction. Removes other playlists of the session if there are
    /// more than ``maximumPlaylists``. Does nothing if the session does not use the account any more.
    func keep(_ fetched: KeptSongs, of playlistID: String, for account: SessionAccount) async throws {
        try await writer.write { database in
            // The account may have been disconnected while the songs were fetched.
            guard try Self.currentAccount(of: account.session, database) == account.id else { return }
            // The foreign key makes SQLite delete the songs of the playlist, too.
            try KeptPlaylist.of(playlistID, for: account).deleteAll(database)
            let fetchedAt = fetched.fetchedAt.timeIntervalSince1970
            try KeptPlaylist(account, playlistID: playlistID, fetchedAt: fetchedAt).insert(database)
            for (position, song) in fetched.songs.enumerated() {
                try KeptSong(account, playlistID: playlistID, position: position, song: song).insert(database)
            }
            try database.execute(
                sql: """
                    DELETE FROM playlist WHERE session = ?1 AND (account, playlistID) IN (
                        SELECT account, playlistID FROM playlist WHERE session = ?1
                        ORDER BY fetchedAt DESC LIMIT -1 OFFSET ?2)
                    """,
                arguments: [account.session, Self.maximumPlaylists])
        }
    }

    /// Removes the account and the songs of a session.
    func clear(_ session: String) async throws {
        try await writer.write { database in
            try KeptPlaylist.filter(Column("session") == session).deleteAll(database)
            try database.execute(sql: "DELETE FROM account WHERE session = ?", arguments: [session])
        }
    }

    /// The migrations of the schema. Do not change a released migration; add another one.
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: accounts, playlists, songs") { database in
            try database.create(table: "account") { table in
                // The table has at most one row.
                table.column("slot", .integer).primaryKey().check { $0 == 0 }
                table.column("id", .text).notNull()
            }
            try database.create(table: "playlist", options: [.strict, .withoutRowID]) { table in
                table.column("account", .text).notNull()
                table.column("playlistID", .text).notNull()
                table.column("fetchedAt", .real).notNull()
                table.primaryKey(["account", "playlistID"])
            }
            try database.create(table: "song", options: [.strict, .withoutRowID]) { table in
                table.column("account", .text).notNull()
                table.column("playlistID", .text).notNull()
                table.column("position", .integer).notNull()
                table.column("id", .text).notNull()
                table.column("uri", .text).notNull()
                table.column("title", .text).notNull()
                table.column("artist", .text).notNull()
                table.column("duration", .integer).notNull()
                table.primaryKey(["account", "playlistID", "position"])
                table.foreignKey(["account", "playlistID"], references: "playlist", onDelete: .cascade)
            }
        }
        migrator.registerMigration("2: sessions") { database in
            for table in ["account", "playlist", "song"] { try database.rename(table: table, to: "\(table)1") }
            try database.create(table: "account", options: [.strict, .withoutRowID]) { table in
                table.primaryKey("session", .text)
                table.column("id", .text).notNull()
            }
            try database.create(table: "playlist", options: [.strict, .withoutRowID]) { table in
                table.column("session", .text).notNull()
                table.column("account", .text).notNull()
                table.column("playlistID", .text).notNull()
                table.column("fetchedAt", .real).notNull()
                table.primaryKey(["session", "account", "playlistID"])
            }
            try database.create(table: "song", options: [.strict, .withoutRowID]) { table in
                table.column("session", .text).notNull()
                table.column("account", .text).notNull()
                table.column("playlistID", .text).notNull()
                table.column("position", .integer).notNull()
                table.column("id", .text).notNull()
                table.column("uri", .text).notNull()
                table.column("title", .text).notNull()
                table.column("artist", .text).notNull()
                table.column("duration", .integer).notNull()
                table.primaryKey(["session", "account", "playlistID", "position"])
                table.foreignKey(["session", "account", "playlistID"], references: "playlist", onDelete: .cascade)
            }
            // Until now there was one account, which the session `default` used.
            for (table, columns) in [
                ("account", "id"), ("playlist", "account, playlistID, fetchedAt"),
                ("song", "account, playlistID, position, id, uri, title, artist, duration"),
            ] {
                try database.execute(
                    sql: "INSERT INTO \(table) (session, \(columns)) SELECT 'default', \(columns) FROM \(table)1")
            }
            for table in ["song1", "playlist1", "account1"] { try database.drop(table: table) }
        }
        return migrator
    }
}

/// The account that a session uses.
struct SessionAccount: Sendable {
    let session: String
    /// The account's id at Spotify.
    let id: String
}

extension TableRecord {
    /// The rows of one playlist for the account of one session.
    fileprivate static func of(_ playlistID: String, for account: SessionAccount) -> QueryInterfaceRequest<Self> {
        filter(
            Column("session") == account.session && Column("account") == account.id
                && Column("playlistID") == playlistID.storable)
    }
}

/// The songs of a playlist, and the time at which they were fetched.
struct KeptSongs: Sendable {
    let songs: [Song]
    let fetchedAt: Date

    /// True if the songs were fetched less than `lifetime` ago. False if `fetchedAt` is in the future.
    func isFresh(at now: Date, for lifetime: Duration) -> Bool {
        (0..<(lifetime / .seconds(1))).contains(now.timeIntervalSince(fetchedAt))
    }
}

/// A row of the table `playlist`.
private struct KeptPlaylist: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "playlist"

    let session: String
    let account: String
    let playlistID: String
    /// The time of fetching, in seconds since 1970.
    let fetchedAt: Double

    init(_ account: SessionAccount, playlistID: String, fetchedAt: Double) {
        session = account.session
        self.account = account.id
        // The id of a command may contain any character.
        self.playlistID = playlistID.storable
        self.fetchedAt = fetchedAt
    }

    /// The time of fetching. The distant past if the row has none that can be written.
    var date: Date {
        let date = Date(timeIntervalSince1970: fetchedAt)
        return Timestamp.canHold(date) ? date : .distantPast
    }
}

/// A row of the table `song`.
private struct KeptSong: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "song"

    let session: String
    let account: String
    let playlistID: String
    let position: Int
    let id: String
    let uri: String
    let title: String
    let artist: String
    let duration: Int

    init(_ account: SessionAccount, playlistID: String, position: Int, song: Song) {
        session = account.session
        self.account = account.id
        self.playlistID = playlistID.storable
        self.position = position
        id = song.id
        uri = song.uri
        title = song.title.storable
        artist = song.artist.storable
        duration = song.duration
    }

    var song: Song {
        Song(
            id: id, uri: uri, title: title, artist: artist, duration: Int(SafeIntegers.limit(max(0, duration))))
    }
}

extension String {
    /// The string with U+FFFD in place of U+0000, at which SQLite's functions for text would cut it off.
    fileprivate var storable: String { replacing(scalars: "\0", with: "\u{FFFD}") }
}

/// An error of the song database's file.
package struct SongDatabaseError: Error, Hashable, Sendable {
    /// A stable name with dots.
    package let code = "songs.unusable"
    /// The problem, in one line with the file.
    package let message: String
    /// The remedy, in one line.
    package let recovery = "Check the path, its permissions and the disk, or remove the file: it only holds copies."
}

extension SongDatabaseError: CustomStringConvertible {
    package var description: String { "\(message). \(recovery)" }
}
