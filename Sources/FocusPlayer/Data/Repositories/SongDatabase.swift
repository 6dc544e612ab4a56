internal import Foundation
package import GRDB
internal import Vocabulary

/// The songs of playlists as they were last fetched for each account, in SQLite.
package struct SongDatabase: Sendable {
    private let writer: any DatabaseWriter

    /// Opens a database and migrates its schema.
    /// - Throws: `DatabaseError`.
    package init(_ writer: any DatabaseWriter) throws {
        self.writer = writer
        try Self.migrator.migrate(writer)
    }

    /// Opens the file at `path`, and creates it if it does not exist. Its directory must exist.
    /// - Throws: ``SongDatabaseError``.
    package init(path: String) throws {
        var configuration = Configuration()
        // An earlier process that is stopping may still have locked the file.
        configuration.busyMode = .timeout(5)
        do {
            try self.init(DatabaseQueue(path: path, configuration: configuration))
        } catch let error as DatabaseError {
            throw SongDatabaseError(
                message: "\(path) cannot be used as the song database: \(error.message ?? "\(error.resultCode)")")
        }
    }

    /// The id of the account that was last used. Nil if none has been used since the last ``clear()``.
    func currentAccount() async throws -> String? {
        try await writer.read { try String.fetchOne($0, sql: "SELECT id FROM account") }
    }

    func setCurrentAccount(_ id: String) async throws {
        try await writer.write { database in
            try database.execute(sql: "INSERT OR REPLACE INTO account (slot, id) VALUES (0, ?)", arguments: [id])
        }
    }

    /// Returns the stored songs. Nil if no songs of the playlist are stored for this account.
    func songs(of playlistID: String, for account: String) async throws -> KeptSongs? {
        try await writer.read { database in
            guard let kept = try KeptPlaylist.of(playlistID, for: account).fetchOne(database) else { return nil }
            let songs = try KeptSong.of(playlistID, for: account).order(Column("position")).fetchAll(database)
            return KeptSongs(songs: songs.map(\.song), fetchedAt: Date(timeIntervalSince1970: kept.fetchedAt))
        }
    }

    /// Replaces the stored songs of a playlist in one transaction.
    func keep(_ fetched: KeptSongs, of playlistID: String, for account: String) async throws {
        try await writer.write { database in
            // The foreign key makes SQLite delete the songs of the playlist, too.
            try KeptPlaylist.of(playlistID, for: account).deleteAll(database)
            let fetchedAt = fetched.fetchedAt.timeIntervalSince1970
            try KeptPlaylist(account: account, playlistID: playlistID, fetchedAt: fetchedAt).insert(database)
            for (position, song) in fetched.songs.enumerated() {
                try KeptSong(account: account, playlistID: playlistID, position: position, song: song).insert(database)
            }
        }
    }

    func clear() async throws {
        try await writer.write { database in
            try KeptPlaylist.deleteAll(database)
            try database.execute(sql: "DELETE FROM account")
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
        return migrator
    }
}

extension TableRecord {
    /// The rows of one playlist for one account.
    fileprivate static func of(_ playlistID: String, for account: String) -> QueryInterfaceRequest<Self> {
        filter(Column("account") == account && Column("playlistID") == playlistID)
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

    let account: String
    let playlistID: String
    /// The time of fetching, in seconds since 1970.
    let fetchedAt: Double
}

/// A row of the table `song`.
private struct KeptSong: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "song"

    let account: String
    let playlistID: String
    let position: Int
    let id: String
    let uri: String
    let title: String
    let artist: String
    let duration: Int

    init(account: String, playlistID: String, position: Int, song: Song) {
        self.account = account
        self.playlistID = playlistID
        self.position = position
        id = song.id
        uri = song.uri
        title = song.title
        artist = song.artist
        duration = song.duration
    }

    var song: Song {
        Song(id: id, uri: uri, title: title, artist: artist, duration: duration)
    }
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
