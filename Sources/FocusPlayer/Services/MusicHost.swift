package import Consuming
internal import Contracts
package import EventBus
package import HTTPClient
package import Logging
internal import Music
package import Repositories
package import SpotifyAPI
package import TokenVault
internal import Vocabulary

/// Connects a `MusicService` to a bus.
package struct MusicHost: Sendable {
    private let bus: any EventBus
    private let logger: Logger
    private let metrics: ConsumerMetrics
    private let vault: TokenVaultReader
    private let database: SongDatabase
    private let client: HTTPClient
    private let host: BaseURL
    private let kept = KeptPages()

    /// - Parameters:
    ///   - vault: the vault in which auth-service stores the tokens.
    ///   - metrics: the counts of the process; the consumers update them.
    package init(
        vault: TokenVaultReader, database: SongDatabase, client: HTTPClient, host: BaseURL, bus: any EventBus,
        logger: Logger, metrics: ConsumerMetrics = ConsumerMetrics()
    ) {
        self.vault = vault
        self.database = database
        self.client = client
        self.host = host
        self.bus = bus
        self.logger = logger
        self.metrics = metrics
    }

    /// Creates the service for the session of one message. If Spotify refuses the access token, the command to renew
    /// the token has this message as its cause.
    func service(for context: MessageContext) -> MusicService {
        let tokens = VaultAccessTokens(vault: vault, session: context.cause.subject) { generation in
            try await bus.send(
                Command.SpotifyTokenRefreshRequested(generation: generation), causedBy: context.cause)
        }
        let spotify = SpotifyWebAPI(
            tokens: tokens, client: client, host: host, session: context.cause.subject, kept: kept)
        let repository = KeepingPlaylistRepository(
            catalog: spotify, database: database, session: context.cause.subject, logger: context.logger)
        return MusicService(repository: repository, player: spotify) { context.logger.error("\($0)") }
    }

    /// Removes the pages of the session's lists.
    private func forgetPages(_ context: MessageContext) {
        kept.forget(context.cause.subject)
    }

    package static let receives: [any Message.Type] = [
        DomainEvent.SpotifyAuthorizationUpdated.self, Command.PlaylistSelected.self,
        Command.PlayOnSpotifyRequested.self, Command.DeviceSelected.self, Query.PlaylistSongs.self,
        DomainEvent.SessionEnded.self,
    ]
    package static let sends: [any Message.Type] = [
        Document.Playlists.self, DomainEvent.PlaylistsLoaded.self, Document.GeneratedPlaylist.self,
        DomainEvent.PlaylistShuffled.self, DomainEvent.PlaybackStarted.self, Document.Devices.self,
        DomainEvent.SpotifyDeviceActivationRequired.self, DomainEvent.SpotifyPremiumOnlyActionAttempted.self,
        Command.SpotifyTokenRefreshRequested.self, DomainEvent.MessageDiscarded.self, ApplicationError.self,
    ]

    package var services: [any ReadyService] { consumers + [queries] }

    /// Two consumers: one for a person's commands, and one for the account's playlists. Each handles the messages of a
    /// session one after the other, and withdraws its own documents when the session ends. Songs are loaded beside the
    /// loop, so that a long list and a slow server hold up neither playing nor another choice.
    var consumers: [MessageConsumer] { [account, playing] }
    static let accountConsumer = "music-service-account"
    static let playingConsumer = "music-service"

    private var account: MessageConsumer {
        MessageConsumer(Self.accountConsumer, bus: bus, logger: logger, metrics: metrics)
            .on(DomainEvent.SpotifyAuthorizationUpdated.self) { event, context in
                switch event.status {
                case .unauthorized: return []
                case .authorized: return try await service(for: context).loadPlaylists()
                case .deauthorized:
                    forgetPages(context)
                    return await service(for: context).forgetAccount()
                }
            }
            .onSessionEnded(withdrawing: [Document.Playlists.self]) { context in
                forgetPages(context)
                await service(for: context).forgetSession()
            }
    }

    private var playing: MessageConsumer {
        MessageConsumer(Self.playingConsumer, bus: bus, logger: logger, metrics: metrics)
            .discardingCommandsOfEndedSessions()
            .on(
                Command.PlaylistSelected.self, recordedBy: \.loading,
                unfinished: \Document.GeneratedPlaylist.unfinished, whenGivenUp: { [$0.failed] }
            ) { command, context in
                try await service(for: context).generatePlaylist(for: command, messageID: context.cause.id)
            }
            .on(Command.PlayOnSpotifyRequested.self) { _, context in
                try await service(for: context).play(try await generatedPlaylist(of: context))
            }
            .on(Command.DeviceSelected.self) { command, context in
                try await service(for: context).play(try await generatedPlaylist(of: context), on: command)
            }
            .onSessionEnded(withdrawing: [Document.GeneratedPlaylist.self, Document.Devices.self]) { context in
                await service(for: context).forgetSession()
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

extension Document.GeneratedPlaylist {
    /// The command whose songs are being loaded. Nil if they have been loaded, or could not be.
    fileprivate var unfinished: Command.PlaylistSelected? {
        status == .loading ? Command.PlaylistSelected(playlistID: playlistID) : nil
    }
}
