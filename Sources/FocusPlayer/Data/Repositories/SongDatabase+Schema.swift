internal import GRDB

extension SongDatabase {
    /// A step that was released never changes: add another.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: accounts, playlists, songs") { database in
            try database.create(table: "account") { table in
                // One row at most.
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
