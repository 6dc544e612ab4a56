package import Contracts
package import EventBus
internal import Support
package import Vocabulary

/// Makes focus playlists for one session, and plays them with its account.
///
/// Each operation returns the messages to publish, documents before the events that refer to them. An operation may be
/// repeated. It does not throw a ``MusicError`` or an `ApplicationError`, but returns messages for it. A query returns
/// its answer or throws.
package struct MusicService: Sendable {
    private let repository: any PlaylistRepository
    private let player: any Player
    private let playLimit: Duration
    private let log: @Sendable (String) -> Void

    /// - Parameters:
    ///   - playLimit: the maximum time in which a playlist is played: all requests, retries and the renewal of the
    ///     token.
    ///   - log: logs the details of an error that a person must not see, such as the path of a file.
    package init(
        repository: any PlaylistRepository, player: any Player, playLimit: Duration = .seconds(25),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.repository = repository
        self.player = player
        self.playLimit = playLimit
        self.log = log
    }

    /// Loads the playlists of the connected account. Before, a ``Document/Playlists`` with the status `loading` must be
    /// published.
    /// - Parameter known: the playlists of the last successful load. The document contains them if this load fails.
    package func loadPlaylists(known: [Playlist] = []) async throws -> [any Message] {
        try await answering(failed: [Document.Playlists(playlists: known, status: .failed)]) {
            do {
                return [Document.Playlists(playlists: try await repository.playlists()), DomainEvent.PlaylistsLoaded()]
            } catch MusicError.notAuthorized {
                // The account has been disconnected since it was reported as connected.
                throw MusicError.authorizationEnded
            }
        }
    }

    /// Removes the stored data of a session that has ended, or whose account was disconnected.
    package func forget() async {
        await repository.forget()
    }

    /// Makes a focus playlist: the songs of the command's playlist, in an order that is computed from `messageID`.
    /// Before, ``Command/PlaylistSelected/loading`` must be published.
    /// - Parameter messageID: the id of the command's message.
    package func generatePlaylist(
        for command: Command.PlaylistSelected, messageID: String
    ) async throws -> [any Message] {
        let playlistID = command.playlistID
        return try await answering(failed: [command.failed]) {
            let songs = try await repository.songs(of: playlistID).shuffled(seed: messageID)
            return [
                Document.GeneratedPlaylist(playlistID: playlistID, status: .ready, songs: songs),
                DomainEvent.PlaylistShuffled(playlistID: playlistID),
            ]
        }
    }

    /// Returns a page of the stored songs of a playlist, without a request to Spotify.
    /// - Parameter messageID: the id of the command whose focus playlist gives the order. Nil for the playlist's own
    ///   order.
    /// - Throws: `ApplicationError` with the code `music.unknown-playlist` if no songs of the playlist are stored.
    package func songs(
        for query: Query.PlaylistSongs, inOrderOf messageID: String? = nil
    ) async throws -> Query.PlaylistSongs.Answer {
        guard let songs = try await repository.keptSongs(of: query.playlistID) else {
            throw ApplicationError(
                code: "music.unknown-playlist", message: "The songs of this playlist are not known",
                recovery: "Choose the playlist first; its songs are then fetched.")
        }
        let ordered = messageID.map(songs.shuffled) ?? songs
        let page = Song.page(of: ordered.dropFirst(max(0, query.offset ?? 0)))
        return Query.PlaylistSongs.Answer(total: songs.count, songs: Array(page))
    }

    /// Plays the focus playlist on the active device. A focus playlist that is being loaded is an error.
    /// - Parameter generated: the session's last document. Nil if there is none.
    package func play(_ generated: Document.GeneratedPlaylist?) async throws -> [any Message] {
        try await playing {
            try await player.play(try songs(of: generated), on: nil)
            return [DomainEvent.PlaybackStarted()]
        }
    }

    /// Changes the playback, whatever plays.
    package func change(_ change: PlaybackChange) async throws -> [any Message] {
        try await playing {
            try await player.change(change)
            return [DomainEvent.PlaybackChanged()]
        }
    }

    /// Plays the focus playlist on the chosen device.
    package func play(
        _ generated: Document.GeneratedPlaylist?, on command: Command.DeviceSelected
    ) async throws -> [any Message] {
        try await playing {
            let songs = try songs(of: generated)
            try await player.transfer(to: command.deviceID)
            try await player.play(songs, on: command.deviceID)
            return [DomainEvent.PlaybackStarted()]
        }
    }

    private static var nothingToPlay: ApplicationError {
        ApplicationError(
            code: "music.nothing-to-play", message: "There is no focus playlist to play",
            recovery: "Choose a playlist with songs, and wait until the focus playlist is ready.")
    }

    private func songs(of generated: Document.GeneratedPlaylist?) throws -> [Song] {
        guard let generated, generated.status == .ready else { throw Self.nothingToPlay }
        // The document may be of an earlier version, which kept other objects.
        let songs = generated.songs.filter(\.isTrack)
        guard !songs.isEmpty else { throw Self.nothingToPlay }
        return songs
    }

    /// Limits the time of an operation. Turns the errors `premiumRequired`, `noActiveDevice` and `notFound` into
    /// events.
    private func playing(
        _ operation: @escaping @Sendable () async throws -> [any Message]
    ) async throws -> [any Message] {
        try await answering {
            try await withTimeLimit(playLimit, orThrow: MusicError.unavailable("no answer in time")) {
                do {
                    return try await operation()
                } catch MusicError.premiumRequired {
                    return [DomainEvent.SpotifyPremiumOnlyActionAttempted()]
                } catch MusicError.noActiveDevice, MusicError.notFound {
                    // The device may have been switched off after it was listed.
                    return [
                        Document.Devices(devices: try await player.speakers()),
                        DomainEvent.SpotifyDeviceActivationRequired(),
                    ]
                }
            }
        }
    }

    /// Turns an error into messages: the messages of `failed`, then the error. The error is left out if another process
    /// publishes it.
    private func answering(
        failed: [any Message] = [], _ operation: () async throws -> [any Message]
    ) async throws -> [any Message] {
        do {
            return try await operation()
        } catch let error as MusicError {
            if case .accessUnreadable(let reason) = error { log("the access to Spotify cannot be read: \(reason)") }
            return failed + [error.applicationError].compactMap(\.self)
        } catch let error as ApplicationError {
            return failed + [error]
        }
    }
}

extension Command.PlaylistSelected {
    /// The document that is shown while the focus playlist is made.
    package var loading: Document.GeneratedPlaylist {
        Document.GeneratedPlaylist(playlistID: playlistID, status: .loading)
    }

    /// The document that replaces the loading one if the focus playlist cannot be made.
    package var failed: Document.GeneratedPlaylist {
        Document.GeneratedPlaylist(playlistID: playlistID, status: .failed)
    }
}

/// A source of the playlists of one session's account, and of their songs.
package protocol PlaylistRepository: Sendable {
    /// Returns all playlists of the connected account, in the provider's order. Call this method first when an account
    /// is connected.
    /// - Throws: ``MusicError``, as ``songs(of:)`` does.
    func playlists() async throws -> [Playlist]

    /// Returns all songs of a playlist, in its order.
    func songs(of playlistID: Playlist.ID) async throws -> [Song]

    /// Returns the stored songs of a playlist as they were last fetched. Nil if none are stored.
    func keptSongs(of playlistID: Playlist.ID) async throws -> [Song]?

    /// Removes all stored data of the session.
    func forget() async
}

/// Plays on the account's devices.
package protocol Player: Sendable {
    /// Returns the devices that can play.
    /// - Throws: ``MusicError``, as the other methods do.
    func speakers() async throws -> [Speaker]

    /// Plays songs, starting with the first one, without those whose URI is not that of a track. A repeated call starts
    /// again with the first song.
    /// - Parameter deviceID: nil for the active device.
    /// - Throws: ``MusicError``, in particular `noActiveDevice` and `premiumRequired`.
    func play(_ songs: [Song], on deviceID: Speaker.ID?) async throws

    /// Makes a device the active one.
    func transfer(to deviceID: Speaker.ID) async throws

    /// Returns the music that plays or is paused. Nil if there is none.
    func playback() async throws -> Playback?

    /// Changes the playback on the active device.
    /// - Throws: ``MusicError``, in particular `noActiveDevice`, `premiumRequired`, and `forbidden` if the present
    ///   playback does not allow the change.
    func change(_ change: PlaybackChange) async throws
}

/// A change of the playback on the active device.
package enum PlaybackChange: Hashable, Sendable {
    case pause, resume, next, previous
    /// The new position in milliseconds.
    case seek(Int)
    /// The new volume in percent.
    case volume(Int)
}
