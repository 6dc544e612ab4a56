internal import GRDB

/// A row of `playlist`.
struct KeptPlaylist: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "playlist"

    let account: String
    let playlistID: String
    /// In seconds since 1970.
    let fetchedAt: Double
}
