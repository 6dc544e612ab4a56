import Foundation
import Support

/// The songs of all accounts by their identifiers, and the records and playlists that contain them.
struct Library: Sendable, Equatable {
    /// The countries in which the songs are available that are not withdrawn.
    static let markets = [
        "AT", "AU", "BE", "BR", "CA", "CH", "DE", "DK", "ES", "FI", "FR", "GB", "IE", "IN", "IT", "JP", "MX", "NL",
        "NO", "NZ", "PL", "PT", "SE", "US",
    ]

    /// The name of the market of each account.
    static let tokenMarket = "from_token"

    /// The identifiers of ISO 3166, which include numbers of continents.
    private static let countries = Set(Locale.Region.isoRegions.map(\.identifier))

    /// The songs by track id.
    private var tracks: [String: Catalogue.Song] = [:]
    /// The numbers of the songs on their records by track id, from 1.
    private var numbers: [String: Int] = [:]
    /// The songs of a playlist, album or artist by URI, in their order.
    private var contexts: [String: [Catalogue.Song]] = [:]
    /// The track ids of the songs that are available nowhere.
    private let withdrawn: Set<String>

    /// - Parameter catalogue: The catalogue. If two accounts have a playlist with the same id, that of the first one
    ///   counts.
    init(_ catalogue: Catalogue) {
        let accounts = catalogue.accounts
        withdrawn = Set(catalogue.withdrawnSongs.map(\.id))
        for playlist in accounts.flatMap(\.playlists) where contexts[playlist.uri] == nil {
            contexts[playlist.uri] = playlist.songs
        }
        for song in accounts.flatMap(\.playlists).flatMap(\.songs) where tracks[song.id] == nil {
            tracks[song.id] = song
            contexts["spotify:artist:\(song.artistID)", default: []].append(song)
            contexts["spotify:album:\(song.albumID)", default: []].append(song)
            numbers[song.id] = contexts["spotify:album:\(song.albumID)"]?.count
        }
    }

    /// The song's place on its record, from 1, and the number of songs of the record.
    func place(of song: Catalogue.Song) -> (number: Int, total: Int) {
        let total = contexts["spotify:album:\(song.albumID)"]?.count ?? 1
        return (numbers[song.id] ?? 1, total)
    }

    /// The countries in which the song is available.
    func markets(of song: Catalogue.Song) -> [String] {
        withdrawn.contains(song.id) ? [] : Self.markets
    }

    /// - Returns: Nil if the catalogue does not have the song.
    func song(uri: String) -> Catalogue.Song? {
        tracks[String(uri.removing(prefix: "spotify:track:") ?? uri[...])]
    }

    /// The tracks that a command plays. A track that the catalogue does not have lasts three minutes.
    ///
    /// - Returns: Nil if the command names no music, and playback is to continue.
    func selection(for command: PlayCommand) throws(WebAPIError) -> PlaybackQueue.Selection? {
        try command.validate()
        let tracks: [PlaybackQueue.Track]
        if let context = command.context {
            guard let songs = contexts[context], !songs.isEmpty else { throw .contextNotFound }
            tracks = songs.map { PlaybackQueue.Track(uri: $0.uri, durationInMilliseconds: $0.durationInMilliseconds) }
        } else if let uris = command.tracks {
            tracks = uris.map { uri in
                PlaybackQueue.Track(uri: uri, durationInMilliseconds: song(uri: uri)?.durationInMilliseconds ?? 180_000)
            }
        } else {
            return nil
        }
        let index: Int
        switch command.offset {
        case nil: index = 0
        case .position(let position): index = position
        case .uri(let uri): index = tracks.firstIndex { $0.uri == uri } ?? tracks.count
        }
        guard tracks.indices.contains(index) else { throw .badRequest("Invalid offset") }
        return PlaybackQueue.Selection(context: command.context, tracks: tracks, index: index)
    }

    /// Checks the query parameter `market`.
    ///
    /// - Returns: True if songs are available there. The country of each account, `from_token`, has songs.
    /// - Throws: An error with the status 400 if it is neither a country's code (ISO 3166-1 alpha-2) nor `from_token`.
    static func hasSongs(market: String) throws(WebAPIError) -> Bool {
        if market == tokenMarket { return true }
        guard market.utf8.count == 2, countries.contains(market) else {
            throw .badRequest("Invalid market code")
        }
        return markets.contains(market)
    }
}
