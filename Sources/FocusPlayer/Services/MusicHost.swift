package import Consuming
package import Contracts
internal import EventBus
package import HTTPClient
internal import Logging
package import Music
internal import Navigation
package import Repositories
package import ServiceRuntime
package import SpotifyAPI
package import TokenVault
package import Vocabulary

/// The handlers of music-service, and what they need beside the bus.
package struct MusicHost: Sendable {
    private let vault: TokenVaultReader
    private let database: SongDatabase
    private let client: HTTPClient
    private let host: BaseURL
    private let kept = KeptPages()
    private let pace: PollingPace
    private let rateLimit = SharedRateLimit()

    /// - Parameters:
    ///   - vault: the vault in which auth-service stores the tokens.
    ///   - pace: the intervals at which the playback is looked at while a screen shows it.
    package init(
        vault: TokenVaultReader, database: SongDatabase, client: HTTPClient, host: BaseURL,
        pace: PollingPace = PollingPace()
    ) {
        self.vault = vault
        self.database = database
        self.client = client
        self.host = host
        self.pace = pace
    }

    /// Creates the service for the session of one message. If Spotify refuses the access token, the command to renew
    /// the token has this message as its cause.
    func service(for context: MessageContext) -> MusicService {
        let spotify = spotify(for: context)
        let repository = KeepingPlaylistRepository(
            catalog: spotify, database: database, session: context.cause.subject, logger: context.logger)
        return MusicService(repository: repository, player: spotify) { context.logger.error("\($0)") }
    }

    private func spotify(
        for context: MessageContext, policy: RateLimitPolicy = RateLimitPolicy()
    ) -> SpotifyWebAPI {
        let tokens = VaultAccessTokens(vault: vault, session: context.cause.subject) { generation in
            // An old request does no harm, because the token of a generation is renewed once. If it expired, auth-service
            // would report each request that it finds after an absence as an error.
            let request = try await context.bus.send(
                Command.SpotifyTokenRefreshRequested(generation: generation), causedBy: context.cause, lifetime: nil)
            try await Self.waitForError(causedBy: request, on: context.bus)
        }
        return SpotifyWebAPI(
            tokens: tokens, client: client, host: host, policy: policy, session: context.cause.subject, kept: kept,
            rateLimit: rateLimit)
    }

    /// Waits until another process has answered a command with an error.
    private static func waitForError(causedBy command: Envelope, on bus: EventBus) async throws {
        guard let position = command.position else { return }
        let filter = MessageFilter.type(ApplicationError.self, subject: command.subject)
        try await bus.withSubscription(to: [filter], from: .after(position)) { messages in
            for try await message in messages where message.attributes.causationID == command.id { return }
            throw CancellationError()
        }
    }

    /// The messages that the service reads while it follows a playback.
    private static let signs: [any Message.Type] = [
        Document.NavigationState.self, DomainEvent.PlaybackStarted.self, DomainEvent.PlaybackChanged.self,
    ]
    /// The messages with which a command to the player is answered.
    private static let played: [any Message.Type] = [
        DomainEvent.PlaybackStarted.self, DomainEvent.PlaybackChanged.self, Document.Devices.self,
        DomainEvent.SpotifyDeviceActivationRequired.self, DomainEvent.SpotifyPremiumOnlyActionAttempted.self,
        Command.SpotifyTokenRefreshRequested.self,
    ]

    /// The screen of the flows that shows `document.NowPlaying`.
    static let nowPlayingScreen = "nowPlaying"

    /// Three consumers: one for a person's choices and changes of the playback, one for the account's playlists, and one
    /// that follows the playback. Each handles the messages of a session one after the other. All commands to the player
    /// are in one consumer, which keeps their order. Lists are loaded, and the playback is followed, beside the loop, so
    /// that a long list and a slow server hold up neither playing nor another choice nor a log-out.
    package static func handlers(_ host: Prepared<MusicHost>) -> [Handlers] {
        [playing(host), account(host), playback(host)]
    }

    private static func account(_ host: Prepared<MusicHost>) -> Handlers {
        Handlers("music-service-account")
            .work(
                recordedBy: Document.Playlists.self,
                sends: DomainEvent.PlaylistsLoaded.self, Command.SpotifyTokenRefreshRequested.self
            ) { event, context in
                try await host().playlistsBeforeLoad(event, context)
            } work: { _, context in
                let known = try await Self.knownPlaylists(context)
                return try await host().service(for: context).loadPlaylists(known: known)
            }
            .reading(ApplicationError.self)
            .onSessionEnded { try await host().forget($0) }
    }

    /// The document that replaces the session's playlists when its authorization has changed. Only an account that is
    /// connected has playlists to load.
    private func playlistsBeforeLoad(
        _ event: DomainEvent.SpotifyAuthorizationUpdated, _ context: MessageContext
    ) async throws -> Document.Playlists {
        switch event.status {
        case .authorized:
            return Document.Playlists(playlists: try await Self.knownPlaylists(context), status: .loading)
        case .unauthorized:
            return Document.Playlists(playlists: [])
        case .deauthorized:
            await forget(context)
            return Document.Playlists(playlists: [])
        }
    }

    /// The playlists of the session's last document. None if there is no document, or it cannot be read.
    private static func knownPlaylists(_ context: MessageContext) async throws -> [Playlist] {
        let document = try await context.bus.document(Document.Playlists.type, subject: context.session, key: nil)
        return (try? document?.decode(Document.Playlists.self))?.playlists ?? []
    }

    /// Removes the stored songs of a session, and the pages of its lists.
    private func forget(_ context: MessageContext) async {
        kept.forget(context.session)
        await service(for: context).forget()
    }

    private static func playing(_ host: Prepared<MusicHost>) -> Handlers {
        @Sendable func change(_ change: PlaybackChange, _ context: MessageContext) async throws -> [any Message] {
            try await host().service(for: context).change(change)
        }
        return Handlers("music-service")
            .discardingCommandsOfEndedSessions()
            .work(
                recordedBy: Document.GeneratedPlaylist.self,
                sends: DomainEvent.PlaylistShuffled.self, Command.SpotifyTokenRefreshRequested.self
            ) { command, _ in
                command.loading
            } work: { command, context in
                try await host().service(for: context).generatePlaylist(for: command, messageID: context.cause.id)
            }
            .on(
                DomainEvent.SpotifyAuthorizationUpdated.self, ending: Document.GeneratedPlaylist.self,
                when: { $0.status == .deauthorized }
            ) { event, context in
                // Another process may handle the log-out for the playlists.
                if event.status == .deauthorized { try host().kept.forget(context.session) }
                return []
            }
            .on(Command.PlayOnSpotifyRequested.self, sends: played) { _, context in
                let generated = try await context.document(Document.GeneratedPlaylist.self)
                return try await host().service(for: context).play(generated)
            }
            .on(Command.DeviceSelected.self, sends: played) { command, context in
                let generated = try await context.document(Document.GeneratedPlaylist.self)
                return try await host().service(for: context).play(generated, on: command)
            }
            .on(Command.PauseRequested.self, sends: played) { try await change(.pause, $1) }
            .on(Command.ResumeRequested.self, sends: played) { try await change(.resume, $1) }
            .on(Command.NextSongRequested.self, sends: played) { try await change(.next, $1) }
            .on(Command.PreviousSongRequested.self, sends: played) { try await change(.previous, $1) }
            .on(Command.SeekRequested.self, sends: played) { try await change(.seek($0.position), $1) }
            .on(Command.VolumeRequested.self, sends: played) { try await change(.volume($0.percent), $1) }
            .answer(Query.PlaylistSongs.self) { query, context in
                let order = try await Self.order(of: query.playlistID, context)
                return try await host().service(for: context).songs(for: query, inOrderOf: order)
            }
            .onSessionEnded { try await host().forget($0) }
    }

    private static func playback(_ host: Prepared<MusicHost>) -> Handlers {
        Handlers("music-service-playback")
            .discardingCommandsOfEndedSessions()
            .work(recordedBy: Document.NowPlaying.self, sends: Command.SpotifyTokenRefreshRequested.self) { _, _ in
                Command.NowPlayingRequested.loading
            } work: { _, context in
                try await host().follow(context)
            }
            .reading(
                Document.NavigationState.self, DomainEvent.PlaybackStarted.self, DomainEvent.PlaybackChanged.self)
    }

    /// Follows the playback while a screen of the session shows it.
    private func follow(_ context: MessageContext) async throws -> [any Message] {
        let signs = FollowerSigns()
        // If Spotify asks to wait, the follower looks again later. A request that waits would hold up its end.
        let follower = NowPlayingFollower(
            player: spotify(for: context, policy: RateLimitPolicy(attempts: 1)), pace: pace
        ) { context.logger.error("\($0)") }
        return try await withThrowingTaskGroup(of: [any Message]?.self) { group in
            group.addTask {
                try await watch(context, signs)
                return nil
            }
            group.addTask { try await follower.follow(signs) { try await context.publish($0) } }
            defer { group.cancelAll() }
            while let messages = try await group.next() {
                if let messages { return messages }
            }
            throw CancellationError()
        }
    }

    /// Records whether a platform of the session shows the playback, and when a command has changed it.
    private func watch(_ context: MessageContext, _ signs: FollowerSigns) async throws {
        let filters = Self.signs.map { MessageFilter.type($0.type, subject: context.cause.subject) }
        try await context.bus.withSubscription(to: filters, from: .retained) { messages in
            var platforms: Set<String> = []
            for try await message in messages {
                guard message.type == Document.NavigationState.type else {
                    signs.recordChange()
                    continue
                }
                guard let platform = message.attributes.key else { continue }
                let screens = try? message.decode(Document.NavigationState.self).snapshot.state.open
                if screens?.contains(where: { $0.screen == Self.nowPlayingScreen }) == true {
                    platforms.insert(platform)
                } else {
                    platforms.remove(platform)
                }
                signs.record(isShown: !platforms.isEmpty)
            }
        }
    }

    /// The id of the command that made the session's focus playlist, if it was made from this playlist. The document's
    /// cause is that command.
    private static func order(of playlistID: Playlist.ID, _ context: MessageContext) async throws -> String? {
        let type = Document.GeneratedPlaylist.type
        guard let document = try await context.bus.document(type, subject: context.session, key: nil),
            let generated = try? document.decode(Document.GeneratedPlaylist.self), generated.status == .ready,
            generated.playlistID == playlistID
        else { return nil }
        return document.attributes.causationID
    }
}

// MARK: The documents that record work

extension Document.Playlists: WorkRecord {
    package var unfinished: DomainEvent.SpotifyAuthorizationUpdated? {
        status == .loading ? DomainEvent.SpotifyAuthorizationUpdated(status: .authorized) : nil
    }

    package var ended: Document.Playlists? { Document.Playlists(playlists: playlists, status: .failed) }
}

extension Document.GeneratedPlaylist: WorkRecord {
    package var unfinished: Command.PlaylistSelected? {
        status == .loading ? Command.PlaylistSelected(playlistID: playlistID) : nil
    }

    package var ended: Document.GeneratedPlaylist? { Command.PlaylistSelected(playlistID: playlistID).failed }
}

extension Document.NowPlaying: WorkRecord {
    package var unfinished: Command.NowPlayingRequested? {
        status == .ended ? nil : Command.NowPlayingRequested()
    }

    package var ended: Document.NowPlaying? { Command.NowPlayingRequested.ended }

    package static var discardsReplaced: Bool { false }
}
