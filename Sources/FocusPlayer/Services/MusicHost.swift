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

/// Hosts a `MusicService` on a bus.
package struct MusicHost: Sendable {
    let bus: any EventBus
    let logger: Logger
    let metrics: ConsumerMetrics
    private let vault: TokenVaultReader
    private let database: SongDatabase
    private let client: HTTPClient
    private let hosts: SpotifyHosts

    /// - Parameters:
    ///   - vault: where auth-service keeps the tokens.
    ///   - metrics: of the process; counts what is handled.
    package init(
        vault: TokenVaultReader, database: SongDatabase, client: HTTPClient, hosts: SpotifyHosts, bus: any EventBus,
        logger: Logger, metrics: ConsumerMetrics = ConsumerMetrics()
    ) {
        self.vault = vault
        self.database = database
        self.client = client
        self.hosts = hosts
        self.bus = bus
        self.logger = logger
        self.metrics = metrics
    }

    /// The service as the message at hand sees it: a token that Spotify refuses meanwhile is renewed in that message's
    /// name, so that whatever comes of it belongs to the same session and story.
    func service(for context: MessageContext) -> MusicService {
        let tokens = VaultAccessTokens(vault: vault) { generation in
            try await bus.send(
                Command.SpotifyTokenRefreshRequested(generation: generation), causedBy: context.cause)
        }
        let spotify = SpotifyWebAPI(tokens: tokens, client: client, hosts: hosts)
        let repository = KeepingPlaylistRepository(catalog: spotify, database: database, logger: context.logger)
        return MusicService(repository: repository, player: spotify)
    }
}
