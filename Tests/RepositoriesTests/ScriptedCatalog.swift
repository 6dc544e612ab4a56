import Music
import Vocabulary

/// A catalog that can be changed, that can be away, and that counts what it is asked.
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
