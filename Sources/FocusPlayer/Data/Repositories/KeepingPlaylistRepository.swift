package import Foundation
package import Logging
package import Music
internal import Support
package import Vocabulary

/// Fetches songs of a session's account from a catalog and stores them. Fresh stored songs are not fetched again. Older
/// stored songs are used if Spotify is unavailable or limits the requests.
///
/// If the database fails, the error is logged and the catalog is used. Only ``keptSongs(of:)`` throws the error.
package struct KeepingPlaylistRepository: PlaylistRepository {
    private let catalog: any MusicCatalog
    private let database: SongDatabase
    private let session: String
    private let lifetime: Duration
    private let logger: Logger
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - lifetime: the time for which stored songs are fresh.
    ///   - now: returns the current time, from which the age of stored songs is computed.
    package init(
        catalog: any MusicCatalog, database: SongDatabase, session: String, lifetime: Duration = .seconds(600),
        logger: Logger, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.catalog = catalog
        self.database = database
        self.session = session
        self.lifetime = lifetime
        self.logger = logger
        self.now = now
    }

    package func playlists() async throws -> [Playlist] {
        _ = try await askedAccount()
        return try await catalog.playlists()
    }

    package func songs(of playlistID: Playlist.ID) async throws -> [Song] {
        let account = try await account()
        let kept = await attempt("read songs") { try await database.songs(of: playlistID, for: account) } ?? nil
        if let kept, kept.isFresh(at: now(), for: lifetime) { return kept.songs }
        do {
            let songs = try await catalog.songs(of: playlistID)
            let fetched = KeptSongs(songs: songs, fetchedAt: now())
            await attempt("store songs") { try await database.keep(fetched, of: playlistID, for: account) }
            return songs
        } catch let error as MusicError where error.isSpotifyAway {
            guard let kept else { throw error }
            logger.notice(
                "Spotify gave no songs; using the stored songs",
                metadata: ["fetched": "\(Timestamp.text(of: kept.fetchedAt))"])
            return kept.songs
        }
    }

    package func keptSongs(of playlistID: Playlist.ID) async throws -> [Song]? {
        guard let account = try await database.currentAccount(of: session) else { return nil }
        return try await database.songs(of: playlistID, for: SessionAccount(session: session, id: account))?.songs
    }

    package func forget() async {
        await attempt("remove the account") { try await database.clear(session) }
    }

    /// The account whose playlists were loaded. Spotify is asked only if no account is stored or it cannot be read.
    private func account() async throws -> SessionAccount {
        if let known = await attempt("read the account", { try await database.currentAccount(of: session) }) ?? nil {
            return SessionAccount(session: session, id: known)
        }
        return try await askedAccount()
    }

    /// The account that Spotify names. It is stored.
    private func askedAccount() async throws -> SessionAccount {
        let account = try await catalog.account()
        await attempt("remember the account") { try await database.setCurrentAccount(account, of: session) }
        return SessionAccount(session: session, id: account)
    }

    @discardableResult
    private func attempt<Result>(_ what: String, _ operation: () async throws -> Result) async -> Result? {
        do {
            return try await operation()
        } catch {
            logger.warning("the song database could not \(what)", metadata: ["error": "\(error)"])
            return nil
        }
    }
}

extension MusicError {
    /// True if stored songs may be used in place of this error.
    fileprivate var isSpotifyAway: Bool {
        switch self {
        case .unavailable, .rateLimited: true
        case .notAuthorized, .authorizationEnded, .renewalFailed, .renewalOverdue, .accessUnreadable, .unauthorized,
            .premiumRequired, .noActiveDevice, .notFound, .forbidden, .playlistForbidden, .tooLong:
            false
        }
    }
}
