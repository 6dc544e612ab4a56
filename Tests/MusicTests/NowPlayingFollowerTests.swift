import Contracts
import EventBus
import Music
import Synchronization
import Testing
import Vocabulary

@Suite("Follower of the playback", .timeLimit(.minutes(1)))
struct NowPlayingFollowerTests {
    private static let pace = {
        var pace = PollingPace(dividedBy: 1000)
        pace.appearance = .milliseconds(50)
        return pace
    }()

    /// Follows until the end, and returns the published documents and the last messages.
    private func follow(
        _ player: ScriptedPlayer
    ) async throws -> (published: [Document.NowPlaying], end: [any Message]) {
        let published = Mutex<[Document.NowPlaying]>([])
        let follower = NowPlayingFollower(player: player, pace: Self.pace)
        let end = try await follower.follow(FollowerSigns()) { document in
            published.withLock { $0.append(document) }
        }
        return (published.withLock(\.self), end)
    }

    @Test("The playback is not requested while Spotify asks to wait", arguments: [Duration.seconds(60), nil])
    func rateLimit(wait: Duration?) async throws {
        let player = ScriptedPlayer(playback: .rateLimited(retryAfter: wait))
        let result = try await follow(player)
        #expect(await player.calls == [.playback])
        #expect(result.published.map(\.status) == [.interrupted])
    }

    @Test("The follower ends without a screen, with a final document")
    func noScreen() async throws {
        let result = try await follow(ScriptedPlayer())
        #expect(result.published == [Document.NowPlaying(status: .following)])
        #expect(result.end.types == ["document.NowPlaying"])
        #expect(result.end.first(Document.NowPlaying.self)?.status == .ended)
    }

    @Test("A permanent error ends the follower, and is reported once, unless another process reports it")
    func errors() async throws {
        let refused = try await follow(ScriptedPlayer(playback: .forbidden("scope")))
        #expect(refused.end.types == ["document.NowPlaying", "error.ApplicationError"])
        #expect(refused.end.errorCodes == ["spotify.forbidden"])
        let failed = try await follow(ScriptedPlayer(playback: .renewalFailed))
        #expect(failed.end.types == ["document.NowPlaying"])
    }

    @Test("A screen that appears and closes during a request is noticed")
    func left() async throws {
        let signs = FollowerSigns()
        signs.record(isShown: true)
        let follower = NowPlayingFollower(player: ScriptedPlayer())
        let begun = ContinuousClock.now
        // The document is published before the follower drains any sign.
        let end = try await follower.follow(signs) { _ in signs.record(isShown: false) }
        #expect(end.types == ["document.NowPlaying"])
        #expect(ContinuousClock.now - begun < .seconds(8), "a screen that has not appeared would get 10 seconds")
    }
}
