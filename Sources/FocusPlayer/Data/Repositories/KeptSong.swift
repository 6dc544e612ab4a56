internal import GRDB
internal import Vocabulary

/// A row of `song`.
struct KeptSong: Codable, FetchableRecord, PersistableRecord {
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
