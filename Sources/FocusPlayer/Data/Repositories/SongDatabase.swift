internal import Foundation
package import GRDB

/// Songs of playlists as they were fetched last, in SQLite.
///
/// Whose they are stands in the key: two accounts may see one playlist differently.
package struct SongDatabase: Sendable {
    private let writer: any DatabaseWriter

    /// Opens a database, and brings its schema up to date.
    /// - Throws: `DatabaseError`.
    package init(_ writer: any DatabaseWriter) throws {
        self.writer = writer
        try Self.migrator.migrate(writer)
    }

    /// Opens the file at `path`, and makes it if it is not there; its directory must be.
    /// - Throws: ``SongDatabaseError``.
    package init(path: String) throws {
        var configuration = Configuration()
        // An incarnation that is on its way out may still hold the file.
        configuration.busyMode = .timeout(5)
        do {
            try self.init(DatabaseQueue(path: path, configuration: configuration))
        } catch let error as DatabaseError {
            throw SongDatabaseError(
                message: "\(path) cannot be used as the song database: \(error.message ?? "\(error.resultCode)")")
        }
    }

    /// The account whose playlists were asked for last.
    func currentAccount() async throws -> String? {
        try await writer.read { try String.fetchOne($0, sql: "SELECT id FROM account") }
    }

    func setCurrentAccount(_ id: String) async throws {
        try await writer.write { database in
            try database.execute(sql: "INSERT OR REPLACE INTO account (slot, id) VALUES (0, ?)", arguments: [id])
        }
    }

    /// nil if the playlist was never fetched for this account.
    func songs(of playlistID: String, for account: String) async throws -> KeptSongs? {
        try await writer.read { database in
            guard let kept = try KeptPlaylist.of(playlistID, for: account).fetchOne(database) else { return nil }
            let songs = try KeptSong.of(playlistID, for: account).order(Column("position")).fetchAll(database)
            return KeptSongs(songs: songs.map(\.song), fetchedAt: Date(timeIntervalSince1970: kept.fetchedAt))
        }
    }

    /// Replaces what was kept, all or nothing.
    func keep(_ fetched: KeptSongs, of playlistID: String, for account: String) async throws {
        try await writer.write { database in
            // Its songs go with it, by the foreign key.
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
}

extension TableRecord {
    /// The rows of one playlist, as one account sees it.
    ///
    /// Not by GRDB's `filter(key:)`, which traps if a damaged database has lost the table's key.
    fileprivate static func of(_ playlistID: String, for account: String) -> QueryInterfaceRequest<Self> {
        filter(Column("account") == account && Column("playlistID") == playlistID)
    }
}
