import Contracts
import DeviceTestSupport
import EventBus
import Music
import Navigation
import SpotifyTestSupport
import TestSupport
import Testing
import Vocabulary

@Suite("Current playback", .timeLimit(.minutes(2)))
struct NowPlayingStoryTests {
    /// A session with an account and music that plays, whose playback is looked at often.
    private func playing(
        pace: PollingPace = PollingPace(dividedBy: 100), _ body: @escaping @Sendable (Stage) async throws -> Void
    ) async throws {
        try await Stage.with { stage in
            try await stage.withServices(pace: pace) {
                try await stage.connect()
                _ = try await stage.choose("DeepFocus")
                let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
                let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: play)
                try await body(stage)
            }
        }
    }

    @Test("A change by another client is shown while the screen is open")
    func otherClient() async throws {
        try await playing { stage in
            let cause = try await stage.openPlayer()
            let first = try await stage.nowPlaying(cause) { $0.playback?.isPlaying == true }
            #expect(first.status == .following && first.playback?.track?.title.isEmpty == false)
            try await stage.spotify.control("player", "action=pause")
            _ = try await stage.nowPlaying(cause) { $0.playback?.isPlaying == false }
            try await stage.spotify.control("player", "action=next")
            _ = try await stage.nowPlaying(cause) { $0.playback?.track?.title != first.playback?.track?.title }
            try await stage.spotify.control("player", "action=volume&volume_percent=12")
            _ = try await stage.nowPlaying(cause) { $0.playback?.device?.volume == 12 }
            try await stage.spotify.control("player", "action=seek&position_ms=61000")
            _ = try await stage.nowPlaying(cause) { $0.playback?.position == 61_000 }
            try await stage.spotify.control("devices", "action=deactivate")
            _ = try await stage.nowPlaying(cause) { $0.status == .following && $0.playback == nil }
        }
    }

    @Test("Commands of this app change the playback in order, and it is requested again at once")
    func commands() async throws {
        // Without the commands, the playback would be looked at once a minute.
        var pace = PollingPace()
        pace.playing = .seconds(60)
        pace.idle = .seconds(60)
        try await playing(pace: pace) { stage in
            let cause = try await stage.openPlayer()
            let first = try await stage.nowPlaying(cause) { $0.playback?.isPlaying == true }
            try await stage.device.tap(Command.NextSongRequested())
            _ = try await stage.nowPlaying(cause) { $0.playback?.track?.title != first.playback?.track?.title }
            try await stage.device.tap(Command.PreviousSongRequested())
            try await stage.device.tap(Command.PauseRequested())
            try await stage.device.tap(Command.SeekRequested(position: 30_000))
            let volume = try await stage.device.tap(Command.VolumeRequested(percent: 25))
            let _: DomainEvent.PlaybackChanged = try await stage.device.outcome(of: volume)
            let last = try await stage.nowPlaying(cause) { $0.playback?.device?.volume == 25 }
            #expect(last.playback?.track?.title == first.playback?.track?.title)
            #expect(last.playback?.isPlaying == false && last.playback?.position == 30_000)
            #expect(try await stage.device.story(of: volume) == ["event.PlaybackChanged"])
            try await stage.device.tap(Command.ResumeRequested())
            _ = try await stage.nowPlaying(cause) {
                $0.playback?.isPlaying == true && $0.playback?.device?.volume == 25
            }
        }
    }

    @Test("A pause during a slow start is applied after the start")
    func pauseAfterSlowStart() async throws {
        try await playing { stage in
            try await stage.spotify.control("faults", "path=/v1/me/player/play&delay_ms=1000&count=1")
            let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
            let pause = try await stage.device.tap(Command.PauseRequested())
            let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: play)
            let _: DomainEvent.PlaybackChanged = try await stage.device.outcome(of: pause)
            let order = try await stage.device.everything().map(\.type)
            #expect(order.suffix(2) == [DomainEvent.PlaybackStarted.type, DomainEvent.PlaybackChanged.type])
            // Only paused music can be resumed.
            let resume = try await stage.device.tap(Command.ResumeRequested())
            let _: DomainEvent.PlaybackChanged = try await stage.device.outcome(of: resume)
        }
    }

    @Test("No request is sent to Spotify after the screen is closed")
    func left() async throws {
        try await playing { stage in
            let cause = try await stage.openPlayer()
            _ = try await stage.nowPlaying(cause) { $0.playback?.isPlaying == true }
            // On two platforms: the playback is followed until the second one has left the screen.
            try await stage.show("nowPlaying", on: "mac")
            try await stage.show("generatedPlaylist", on: "ios")
            try await stage.spotify.control("player", "action=pause")
            _ = try await stage.nowPlaying(cause) { $0.playback?.isPlaying == false }
            try await stage.show("generatedPlaylist", on: "mac")
            _ = try await stage.nowPlaying(cause) { $0.status == .ended && $0.playback == nil }
            let requests = try await stage.spotify.playbackRequests()
            // The next command of the session is handled, and asks nothing.
            let resume = try await stage.device.tap(Command.ResumeRequested())
            let _: DomainEvent.PlaybackChanged = try await stage.device.outcome(of: resume)
            #expect(try await stage.spotify.playbackRequests() == requests)
            #expect(try await stage.device.document(Document.NowPlaying.self)?.status == .ended)
        }
    }

    @Test("A second command continues with the same playback, and the first one is not discarded")
    func again() async throws {
        try await playing { stage in
            let first = try await stage.openPlayer()
            _ = try await stage.nowPlaying(first) { $0.playback?.isPlaying == true }
            let second = try await stage.openPlayer()
            _ = try await stage.nowPlaying(second) { $0.playback?.isPlaying == true }
            try await stage.spotify.control("player", "action=pause")
            _ = try await stage.nowPlaying(second) { $0.playback?.isPlaying == false }
            #expect(try await !stage.device.story(of: first).contains("event.MessageDiscarded"))
        }
    }

    @Test("A screen that does not appear is not served")
    func noScreen() async throws {
        var pace = PollingPace(dividedBy: 100)
        pace.appearance = .milliseconds(200)
        try await playing(pace: pace) { stage in
            let cause = try await stage.device.tap(Command.NowPlayingRequested())
            _ = try await stage.nowPlaying(cause) { $0.status == .ended }
        }
    }

    @Test("A device that vanishes is served for a limited time, and again after the command")
    func attention() async throws {
        var pace = PollingPace(dividedBy: 100)
        pace.attention = .milliseconds(300)
        try await playing(pace: pace) { stage in
            let cause = try await stage.openPlayer()
            _ = try await stage.nowPlaying(cause) { $0.status == .ended }
            let again = try await stage.device.tap(Command.NowPlayingRequested())
            _ = try await stage.nowPlaying(again) { $0.status == .following }
        }
    }

    @Test("The player is not requested while Spotify asks to wait, not even after a command")
    func rateLimit() async throws {
        try await playing { stage in
            let cause = try await stage.openPlayer()
            _ = try await stage.nowPlaying(cause) { $0.playback?.isPlaying == true }
            let begun = ContinuousClock.now
            try await stage.spotify.control("faults", "path=/v1/me/player&status=429&retry_after=2&count=1")
            let interrupted = try await stage.nowPlaying(cause) { $0.status == .interrupted }
            #expect(interrupted.playback?.isPlaying == true, "what is known is still shown")
            let requests = try await stage.spotify.playbackRequests()
            let pause = try await stage.device.tap(Command.PauseRequested())
            let _: DomainEvent.PlaybackChanged = try await stage.device.outcome(of: pause)
            _ = try await stage.nowPlaying(cause) { $0.status == .following && $0.playback?.isPlaying == false }
            #expect(ContinuousClock.now - begun >= .seconds(2))
            #expect(try await stage.spotify.playbackRequests() - requests < 5)
            #expect(try await stage.device.everything().allSatisfy { $0.type != ApplicationError.type })
        }
    }

    @Test("The known playback stays while Spotify is away, and polling continues by itself")
    func unavailable() async throws {
        try await playing { stage in
            let cause = try await stage.openPlayer()
            _ = try await stage.nowPlaying(cause) { $0.playback?.isPlaying == true }
            try await stage.spotify.control("faults", "path=/v1/me/player&status=503&count=3")
            _ = try await stage.nowPlaying(cause) { $0.status == .interrupted && $0.playback != nil }
            try await stage.spotify.control("player", "action=pause")
            _ = try await stage.nowPlaying(cause) { $0.status == .following && $0.playback?.isPlaying == false }
        }
    }

    @Test("A command without Premium or a device is answered as playing is")
    func refused() async throws {
        try await playing { stage in
            let resume = try await stage.device.tap(Command.ResumeRequested())
            let error: ApplicationError = try await stage.device.outcome(of: resume)
            #expect(error.code == "spotify.forbidden", "it plays already")
            try await stage.spotify.control("devices", "action=deactivate")
            let pause = try await stage.device.tap(Command.PauseRequested())
            let _: DomainEvent.SpotifyDeviceActivationRequired = try await stage.device.outcome(of: pause)
            try await stage.spotify.control("premium", "premium=off")
            let next = try await stage.device.tap(Command.NextSongRequested())
            let _: DomainEvent.SpotifyPremiumOnlyActionAttempted = try await stage.device.outcome(of: next)
        }
    }

    @Test("A log-out ends the polling without an error, and nothing follows")
    func loggedOut() async throws {
        try await playing { stage in
            let cause = try await stage.openPlayer()
            _ = try await stage.nowPlaying(cause) { $0.playback?.isPlaying == true }
            let logOut = try await stage.device.tap(Command.SpotifyDeauthorizationRequested())
            let _: Document.Playlists = try await stage.device.outcome(of: logOut)
            let last = try await stage.nowPlaying(cause) { $0.status == .ended }
            #expect(last.playback == nil)
            let end = try await stage.device.everything().count
            let requests = try await stage.spotify.playbackRequests()
            // The screen still appears and Spotify's playback changes, but nobody follows it.
            try await stage.spotify.control("player", "action=pause")
            try await stage.show("nowPlaying", on: "mac")
            let pause = try await stage.device.tap(Command.PauseRequested())
            let error: ApplicationError = try await stage.device.outcome(of: pause)
            #expect(error.code == "spotify.not-connected")
            let messages = try await stage.device.everything()
            #expect(messages.dropFirst(end).map(\.type) == [Command.PauseRequested.type, ApplicationError.type])
            #expect(messages.dropLast().allSatisfy { $0.type != ApplicationError.type })
            #expect(try await stage.spotify.playbackRequests() == requests)
        }
    }

    @Test("A session that ends leaves no document")
    func sessionEnds() async throws {
        try await playing { stage in
            let cause = try await stage.openPlayer()
            _ = try await stage.nowPlaying(cause) { $0.playback?.isPlaying == true }
            try await stage.device.endSession()
            try await stage.device.withdrawn([Document.NowPlaying.type], in: Session.default)
        }
    }

    @Test("A restarted music-service continues while the screen is open")
    func restart() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService {
                let pace = PollingPace(dividedBy: 100)
                try await stage.connect()
                let cause = try await stage.openPlayer()
                try await stage.withMusicService(pace: pace) {
                    _ = try await stage.nowPlaying(cause) { $0.status == .following }
                    _ = try await stage.choose("DeepFocus")
                    let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
                    let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: play)
                    _ = try await stage.nowPlaying(cause) { $0.playback?.isPlaying == true }
                }
                try await stage.spotify.control("player", "action=volume&volume_percent=7")
                try await stage.withMusicService(pace: pace) {
                    _ = try await stage.nowPlaying(cause) { $0.playback?.device?.volume == 7 }
                }
            }
        }
    }
}

extension Stage {
    /// Opens the player as a person does: the coordinator shows the screen.
    fileprivate func openPlayer() async throws -> Envelope {
        let command = try await device.tap(Command.NowPlayingRequested())
        try await show("nowPlaying", on: "ios")
        return command
    }

    /// Publishes a navigation state of a platform, as its coordinator does.
    fileprivate func show(_ screen: String, on platform: String) async throws {
        let snapshot = try NavigationSnapshot.sample(
            platform, root: "playlistSelection", path: [.sample(screen, 2)])
        try await device.publish(Document.NavigationState(snapshot))
    }

    /// Waits for a document that an opened player has caused.
    fileprivate func nowPlaying(
        _ cause: Envelope, where condition: (Document.NowPlaying) -> Bool
    ) async throws -> Document.NowPlaying {
        try await device.outcome(of: cause, where: condition)
    }
}
