import Consuming
import Contracts
import EventBus
import HostileValues
import Repositories
import RuntimeTestSupport
import SpotifyAPI
import SpotifyTestSupport
import Testing
import TokenVault

@testable import Services

@Suite("Routes")
struct RouteTableTests {
    @Test("What the processes announce to receive is what they have handlers for")
    func receives() async throws {
        try await Stage.with { stage in
            let authorization = AuthorizationHost(
                service: try await stage.authorization, bus: stage.device, logger: .silent)
            let routes = authorization.routes(redirectURI: "http://127.0.0.1/callback")
            #expect(Set(routes.receives) == Set(AuthorizationHost.receives.types))

            let music = MusicHost(
                vault: stage.vault, database: try SongDatabase(path: "\(stage.directory)/songs.sqlite"),
                client: stage.spotify.client, host: .spotifyAPI, bus: stage.device, logger: .silent)
            #expect(
                Set(music.consumers.flatMap(\.receives) + music.queries.receives + MusicHost.watched.types)
                    == Set(MusicHost.receives.types))
        }
    }

    @Test("Every number in a message that they receive or send is refused if it is too large")
    func numbers() throws {
        let messages =
            AuthorizationHost.receives + AuthorizationHost.sends + MusicHost.receives + MusicHost.sends
        #expect(try messages.flatMap { try unboundedNumbers(of: $0) } == [])
    }
}
