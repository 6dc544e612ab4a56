package import Foundation
package import Logging
package import Music
package import Vocabulary

/// Fetches songs through a catalog and keeps them: a playlist opens at once while it is fresh, and still opens when
/// Spotify is not there.
///
/// The database only ever helps: if it fails, that is logged and the catalog is asked.
package struct KeepingPlaylistRepository: PlaylistRepository {
    private let catalog: any MusicCatalog
    private let database: SongDatabase
    private let lifetime: Duration
    private let logger: Logger
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - lifetime: how long songs are taken as they were fetched.
    ///   - now: the clock that they age by.
    package init(
        catalog: any MusicCatalog, database: SongDatabase, lifetime: Duration = .seconds(600), logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.catalog = catalog
        self.database = database
        self.lifetime = lifetime
        self.logger = logger
        self.now = now
    }

    package func playlists() async throws -> [Playlist] {
        let account = try await catalog.account()
        await attempt("remember the account") { try await database.setCurrentAccount(account) }
        return try await catalog.playlists()
    }

    package func songs(of playlistID: Playlist.ID) async throws -> [Song] {
        let account = try await account()
        let kept = await attempt("read songs") { try await database.songs(of: playlistID, for: account) } ?? nil
        if let kept, kept.isFresh(at: now(), for: lifetime) { return kept.songs }
        do {
            let songs = try await catalog.songs(of: playlistID)
            let fetched = KeptSongs(songs: songs, fetchedAt: now())
            await attempt("keep songs") { try await database.keep(fetched, of: playlistID, for: account) }
            return songs
        } catch let error as MusicError where error.isSpotifyAway {
            guard let kept else { throw error }
            logger.notice("Spotify is away: songs as they were kept", metadata: ["fetched": "\(kept.fetchedAt)"])
            return kept.songs
        }
    }

    package func keptSongs(of playlistID: Playlist.ID) async throws -> [Song]? {
        guard let account = try await database.currentAccount() else { return nil }
        return try await database.songs(of: playlistID, for: account)?.songs
    }

    package func forget() async {
        await attempt("forget the account") { try await database.clear() }
    }

    /// The account that playlists were loaded for; asked of Spotify only if none was yet.
    private func account() async throws -> String {
        if let known = await attempt("read the account", { try await database.currentAccount() }) ?? nil {
            return known
        }
        let account = try await catalog.account()
        await attempt("remember the account") { try await database.setCurrentAccount(account) }
        return account
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
    /// Whether songs kept earlier are better than this error.
    fileprivate var isSpotifyAway: Bool {
        switch self {
        case .unavailable, .rateLimited: true
        case .notAuthorized, .authorizationEnded, .renewalOverdue, .accessUnreadable, .unauthorized, .premiumRequired,
            .noActiveDevice, .notFound, .forbidden:
            false
        }
    }
}
