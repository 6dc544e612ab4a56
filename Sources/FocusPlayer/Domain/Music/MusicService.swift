package import Contracts
package import EventBus
package import Vocabulary

/// Makes focus playlists and plays them.
///
/// Each operation returns what is to be published, documents before the events that speak of them, and is safe to repeat.
/// It throws `CancellationError`, and what `publish` throws; all else that goes wrong becomes a message. A query is answered,
/// or an error thrown.
package struct MusicService: Sendable {
    private let repository: any PlaylistRepository
    private let player: any Player

    package init(repository: any PlaylistRepository, player: any Player) {
        self.repository = repository
        self.player = player
    }

    /// An account is connected: loads its playlists.
    package func loadPlaylists() async throws -> [any Message] {
        try await answering {
            [Document.Playlists(playlists: try await repository.playlists()), DomainEvent.PlaylistsLoaded()]
        }
    }

    /// The account is gone: forgets what was its.
    package func forgetAccount() async -> [any Message] {
        await repository.forget()
        return [Document.Playlists(playlists: [])]
    }

    /// Makes a focus playlist: the songs of `command`'s playlist in an order that belongs to `messageID`.
    /// - Parameters:
    ///   - messageID: the id of the message that carried `command`.
    ///   - publish: publishes at once, ahead of what is returned, so that no screen shows the playlist before.
    package func generatePlaylist(
        for command: Command.PlaylistSelected, messageID: String,
        publish: (any Message) async throws -> Void
    ) async throws -> [any Message] {
        let playlistID = command.playlistID
        try await publish(Document.GeneratedPlaylist(playlistID: playlistID, status: .loading))
        return try await answering(failed: [Document.GeneratedPlaylist(playlistID: playlistID, status: .failed)]) {
            let songs = try await repository.songs(of: playlistID).shuffled(seed: messageID)
            return [
                Document.GeneratedPlaylist(playlistID: playlistID, status: .ready, songs: songs),
                DomainEvent.PlaylistShuffled(playlistID: playlistID),
            ]
        }
    }

    /// The songs of a playlist, without asking Spotify.
    /// - Throws: `ApplicationError` with the code `music.unknown-playlist` when they were never fetched.
    package func songs(for query: Query.PlaylistSongs) async throws -> Query.PlaylistSongs.Answer {
        guard let songs = try await repository.keptSongs(of: query.playlistID) else {
            throw ApplicationError(
                code: "music.unknown-playlist", message: "The songs of playlist '\(query.playlistID)' are not known",
                recovery: "Choose the playlist first: then they are fetched.")
        }
        return Query.PlaylistSongs.Answer(songs: songs)
    }

    /// Plays the focus playlist on the active device.
    /// - Parameter generated: the session's last document: a service that was started anew goes on with it.
    package func play(_ generated: Document.GeneratedPlaylist?) async throws -> [any Message] {
        try await playing {
            try await player.play(try songs(of: generated), on: nil)
            return [DomainEvent.PlaybackStarted()]
        }
    }

    /// Plays the focus playlist on the device that was picked.
    package func play(
        _ generated: Document.GeneratedPlaylist?, on command: Command.DeviceSelected
    ) async throws -> [any Message] {
        try await playing {
            let songs = try songs(of: generated)
            do {
                try await player.transfer(to: command.deviceID)
                try await player.play(songs, on: command.deviceID)
            } catch MusicError.notFound {
                // It was switched off since the list was made: the list is made again.
                throw MusicError.noActiveDevice
            }
            return [DomainEvent.PlaybackStarted()]
        }
    }

    private static var nothingToPlay: ApplicationError {
        ApplicationError(
            code: "music.nothing-to-play", message: "There is no focus playlist to play",
            recovery: "Choose a playlist with songs, and wait until it is there.")
    }

    private func songs(of generated: Document.GeneratedPlaylist?) throws -> [Song] {
        guard let generated, generated.status == .ready, !generated.songs.isEmpty else { throw Self.nothingToPlay }
        return generated.songs
    }

    /// Turns the failures of a player into what a person can do about them.
    private func playing(_ operation: () async throws -> [any Message]) async throws -> [any Message] {
        try await answering {
            do {
                return try await operation()
            } catch MusicError.premiumRequired {
                return [DomainEvent.SpotifyPremiumOnlyActionAttempted()]
            } catch MusicError.noActiveDevice {
                return [
                    Document.Devices(devices: try await player.devices()),
                    DomainEvent.SpotifyDeviceActivationRequired(),
                ]
            }
        }
    }

    /// Turns an error into messages: those of `failed`, and the error itself unless somebody else tells it.
    private func answering(
        failed: [any Message] = [], _ operation: () async throws -> [any Message]
    ) async throws -> [any Message] {
        do {
            return try await operation()
        } catch let error as MusicError {
            return failed + [error.applicationError].compactMap(\.self)
        } catch let error as ApplicationError {
            return failed + [error]
        }
    }
}

/// Playlists and their songs, from wherever they are at hand.
package protocol PlaylistRepository: Sendable {
    /// All of the connected account's playlists, in its order. To be asked first whenever an account is connected.
    /// - Throws: ``MusicError``, as the next.
    func playlists() async throws -> [Playlist]

    /// All songs of a playlist, in its order.
    func songs(of playlistID: Playlist.ID) async throws -> [Song]

    /// The songs of a playlist as they were fetched last, from what is kept alone; nil if they never were.
    func keptSongs(of playlistID: Playlist.ID) async throws -> [Song]?

    /// Drops all that is kept: the account is gone.
    func forget() async
}

/// Plays on the account's devices.
package protocol Player: Sendable {
    /// The devices that could play now. Spotify does not say which are only asleep.
    /// - Throws: ``MusicError``, as all of these.
    func devices() async throws -> [Device]

    /// Plays songs from the first one on. Safe to repeat: it starts again.
    /// - Parameter deviceID: nil for the active device.
    /// - Throws: ``MusicError/noActiveDevice``, ``MusicError/premiumRequired``.
    func play(_ songs: [Song], on deviceID: Device.ID?) async throws

    /// Makes a device the active one.
    func transfer(to deviceID: Device.ID) async throws
}
