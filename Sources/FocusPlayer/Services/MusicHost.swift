package import Consuming
internal import Contracts
package import EventBus
package import HTTPClient
package import Logging
package import Music
internal import Navigation
package import Repositories
package import SpotifyAPI
package import TokenVault
internal import Vocabulary

/// Connects a `MusicService` to a bus.
package struct MusicHost: Sendable {
    private let bus: EventBus
    private let logger: Logger
    private let metrics: ConsumerMetrics
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
    ///   - metrics: the counts of the process; the consumers update them.
    package init(
        vault: TokenVaultReader, database: SongDatabase, client: HTTPClient, host: BaseURL, bus: EventBus,
        logger: Logger, pace: PollingPace = PollingPace(), metrics: ConsumerMetrics = ConsumerMetrics()
    ) {
        self.vault = vault
        self.database = database
        self.client = client
        self.host = host
        self.bus = bus
        self.logger = logger
        self.pace = pace
        self.metrics = metrics
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
            let request = try await bus.send(
                Command.SpotifyTokenRefreshRequested(generation: generation), causedBy: context.cause, lifetime: nil)
            try await waitForError(causedBy: request)
        }
        return SpotifyWebAPI(
            tokens: tokens, client: client, host: host, policy: policy, session: context.cause.subject, kept: kept,
            rateLimit: rateLimit)
    }

    /// Waits until another process has answered a command with an error.
    private func waitForError(causedBy command: Envelope) async throws {
        guard let position = command.position else { return }
        let filter = MessageFilter.type(ApplicationError.self, subject: command.subject)
        try await bus.withSubscription(to: [filter], from: .after(position)) { messages in
            for try await message in messages where message.attributes.causationID == command.id { return }
            throw CancellationError()
        }
    }

    /// Removes the pages of the session's lists.
    private func forgetPages(_ context: MessageContext) {
        kept.forget(context.cause.subject)
    }

    /// The messages that the service reads while it follows a playback. No durable consumer receives them.
    private static let signs: [any Message.Type] = [
        Document.NavigationState.self, DomainEvent.PlaybackStarted.self, DomainEvent.PlaybackChanged.self,
    ]
    /// The messages that no durable consumer receives: ``signs``, and the answers to requests for a token.
    static let watched: [any Message.Type] = signs + [ApplicationError.self]
    package static let receives: [any Message.Type] =
        [
            DomainEvent.SpotifyAuthorizationUpdated.self, Command.PlaylistSelected.self,
            Command.PlayOnSpotifyRequested.self, Command.DeviceSelected.self, Query.PlaylistSongs.self,
            Command.NowPlayingRequested.self, Command.PauseRequested.self, Command.ResumeRequested.self,
            Command.NextSongRequested.self, Command.PreviousSongRequested.self, Command.SeekRequested.self,
            Command.VolumeRequested.self, DomainEvent.SessionEnded.self,
        ] + watched
    package static let sends: [any Message.Type] = [
        Document.Playlists.self, DomainEvent.PlaylistsLoaded.self, Document.GeneratedPlaylist.self,
        DomainEvent.PlaylistShuffled.self, DomainEvent.PlaybackStarted.self, Document.Devices.self,
        Document.NowPlaying.self, DomainEvent.PlaybackChanged.self,
        DomainEvent.SpotifyDeviceActivationRequired.self, DomainEvent.SpotifyPremiumOnlyActionAttempted.self,
        Command.SpotifyTokenRefreshRequested.self, DomainEvent.MessageDiscarded.self, ApplicationError.self,
    ]

    package var services: [any ReadyService] { consumers + [queries] }

    /// Three consumers: one for a person's choices and changes of the playback, one for the account's playlists, and one
    /// that follows the playback. Each handles the messages of a session one after the other, and withdraws its own
    /// documents when the session ends. All commands to the player are in one consumer, which keeps their order. Lists
    /// are loaded, and the playback is followed, beside the loop, so that a long list and a slow server hold up
    /// neither playing nor another choice nor a log-out.
    var consumers: [MessageConsumer] { [account, playing, playback] }
    static let accountConsumer = "music-service-account"
    static let playingConsumer = "music-service"
    static let playbackConsumer = "music-service-playback"

    /// The screen of the flows that shows `document.NowPlaying`.
    static let nowPlayingScreen = "nowPlaying"

    private var account: MessageConsumer {
        MessageConsumer(Self.accountConsumer, bus: bus, logger: logger, metrics: metrics)
            .on(
                DomainEvent.SpotifyAuthorizationUpdated.self, recordedBy: playlistsBeforeLoad,
                unfinished: \Document.Playlists.unfinished,
                whenGivenUp: { _ in [Document.Playlists(playlists: [], status: .failed)] }
            ) { _, context in
                try await service(for: context).loadPlaylists(known: try await knownPlaylists(context))
            }
            .onSessionEnded(withdrawing: [Document.Playlists.self]) { context in
                forgetPages(context)
                await service(for: context).forget()
            }
    }

    /// The document that replaces the session's playlists when its authorization has changed. Only an account that is
    /// connected has playlists to load.
    private func playlistsBeforeLoad(
        _ event: DomainEvent.SpotifyAuthorizationUpdated, _ context: MessageContext
    ) async throws -> Document.Playlists {
        switch event.status {
        case .authorized:
            return Document.Playlists(playlists: try await knownPlaylists(context), status: .loading)
        case .unauthorized:
            return Document.Playlists(playlists: [])
        case .deauthorized:
            forgetPages(context)
            await service(for: context).forget()
            return Document.Playlists(playlists: [])
        }
    }

    /// The playlists of the session's last document. None if there is no document, or it cannot be read.
    private func knownPlaylists(_ context: MessageContext) async throws -> [Playlist] {
        let document = try await bus.document(Document.Playlists.type, subject: context.cause.subject, key: nil)
        return (try? document?.decode(Document.Playlists.self))?.playlists ?? []
    }

    private var playing: MessageConsumer {
        MessageConsumer(Self.playingConsumer, bus: bus, logger: logger, metrics: metrics)
            .discardingCommandsOfEndedSessions()
            .on(
                Command.PlaylistSelected.self, recordedBy: { command, _ in command.loading },
                unfinished: \Document.GeneratedPlaylist.unfinished, whenGivenUp: { [$0.failed] }
            ) { command, context in
                try await service(for: context).generatePlaylist(for: command, messageID: context.cause.id)
            }
            .on(
                DomainEvent.SpotifyAuthorizationUpdated.self, ending: Command.PlaylistSelected.self,
                when: { $0.status == .deauthorized }
            ) { event, context in
                // Another process may handle the log-out for the playlists.
                if event.status == .deauthorized { forgetPages(context) }
                return []
            }
            .on(Command.PlayOnSpotifyRequested.self) { _, context in
                try await service(for: context).play(try await generatedPlaylist(of: context))
            }
            .on(Command.DeviceSelected.self) { command, context in
                try await service(for: context).play(try await generatedPlaylist(of: context), on: command)
            }
            .on(Command.PauseRequested.self) { _, context in try await service(for: context).change(.pause) }
            .on(Command.ResumeRequested.self) { _, context in try await service(for: context).change(.resume) }
            .on(Command.NextSongRequested.self) { _, context in try await service(for: context).change(.next) }
            .on(Command.PreviousSongRequested.self) { _, context in
                try await service(for: context).change(.previous)
            }
            .on(Command.SeekRequested.self) { command, context in
                try await service(for: context).change(.seek(command.position))
            }
            .on(Command.VolumeRequested.self) { command, context in
                try await service(for: context).change(.volume(command.percent))
            }
            .onSessionEnded(withdrawing: [Document.GeneratedPlaylist.self, Document.Devices.self]) { context in
                forgetPages(context)
                await service(for: context).forget()
            }
    }

    private var playback: MessageConsumer {
        MessageConsumer(Self.playbackConsumer, bus: bus, logger: logger, metrics: metrics)
            .discardingCommandsOfEndedSessions()
            .on(
                Command.NowPlayingRequested.self, discardsReplaced: false,
                recordedBy: { _, _ in Command.NowPlayingRequested.loading },
                unfinished: { $0.status == .ended ? nil : Command.NowPlayingRequested() },
                whenGivenUp: { _ in [Command.NowPlayingRequested.ended] }
            ) { _, context in
                try await follow(context)
            }
            .onSessionEnded(withdrawing: [Document.NowPlaying.self])
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

    /// Notes whether a platform of the session shows the playback, and when a command has changed it.
    private func watch(_ context: MessageContext, _ signs: FollowerSigns) async throws {
        let filters = Self.signs.map { MessageFilter.type($0.type, subject: context.cause.subject) }
        try await bus.withSubscription(to: filters, from: .retained) { messages in
            var platforms: Set<String> = []
            for try await message in messages {
                guard message.type == Document.NavigationState.type else {
                    signs.noteChange()
                    continue
                }
                guard let platform = message.attributes.key else { continue }
                let screens = try? message.decode(Document.NavigationState.self).snapshot.state.standing
                if screens?.contains(where: { $0.screen == Self.nowPlayingScreen }) == true {
                    platforms.insert(platform)
                } else {
                    platforms.remove(platform)
                }
                signs.note(isShown: !platforms.isEmpty)
            }
        }
    }

    var queries: QueryServer {
        QueryServer(bus: bus, logger: logger)
            .on(Query.PlaylistSongs.self) { query, context in
                let order = try await order(of: query.playlistID, context)
                return try await service(for: context).songs(for: query, inOrderOf: order)
            }
    }

    /// The id of the command that made the session's focus playlist, if it was made from this playlist. The document's
    /// cause is that command.
    private func order(of playlistID: Playlist.ID, _ context: MessageContext) async throws -> String? {
        let type = Document.GeneratedPlaylist.type
        guard let document = try await bus.document(type, subject: context.cause.subject, key: nil),
            let generated = try? document.decode(Document.GeneratedPlaylist.self), generated.status == .ready,
            generated.playlistID == playlistID
        else { return nil }
        return document.attributes.causationID
    }

    private func generatedPlaylist(of context: MessageContext) async throws -> Document.GeneratedPlaylist? {
        try await bus.document(Document.GeneratedPlaylist.self, subject: context.cause.subject)
    }
}

extension Document.Playlists {
    /// The event whose playlists are being loaded. Nil if they have been loaded, or could not be.
    fileprivate var unfinished: DomainEvent.SpotifyAuthorizationUpdated? {
        status == .loading ? DomainEvent.SpotifyAuthorizationUpdated(status: .authorized) : nil
    }
}

extension Document.GeneratedPlaylist {
    /// The command whose songs are being loaded. Nil if they have been loaded, or could not be.
    fileprivate var unfinished: Command.PlaylistSelected? {
        status == .loading ? Command.PlaylistSelected(playlistID: playlistID) : nil
    }
}
