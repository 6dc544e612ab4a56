import Contracts
import EventBus
import Music
import Testing
import Vocabulary

@Suite("Playback")
struct PlaybackTests {
    func service(_ player: ScriptedPlayer) -> MusicService {
        MusicService(repository: StaticRepository(), player: player)
    }

    @Test("The focus playlist plays in its order on the active device")
    func plays() async throws {
        let player = ScriptedPlayer()
        #expect(try await service(player).play(.ready).types == ["event.PlaybackStarted"])
        #expect(await player.calls == [.play(["spotify:track:s1", "spotify:track:s2"], on: nil)])
    }

    @Test(
        "A playlist without songs is not played, and Spotify is not asked",
        arguments: [
            nil, Document.GeneratedPlaylist(playlistID: "p", status: .loading),
            Document.GeneratedPlaylist(playlistID: "p", status: .failed),
            Document.GeneratedPlaylist(playlistID: "p", status: .ready, songs: []),
            Document.GeneratedPlaylist(playlistID: "p", status: .ready, songs: [.episode]),
        ])
    func nothing(generated: Document.GeneratedPlaylist?) async throws {
        let player = ScriptedPlayer()
        #expect(try await service(player).play(generated).errorCodes == ["music.nothing-to-play"])
        let selected = Command.DeviceSelected(deviceID: "kitchen")
        #expect(try await service(player).play(generated, on: selected).errorCodes == ["music.nothing-to-play"])
        #expect(await player.calls.isEmpty)
    }

    @Test("An object that is not a track does not fail the command")
    func episode() async throws {
        let player = ScriptedPlayer()
        let songs = [Song.episode, .fixture(1)]
        let generated = Document.GeneratedPlaylist(playlistID: "p", status: .ready, songs: songs)
        #expect(try await service(player).play(generated).types == ["event.PlaybackStarted"])
        #expect(await player.calls == [.play(["spotify:track:s1"], on: nil)])
    }

    @Test("A change of the playback is requested as it was meant, and reported")
    func changes() async throws {
        let player = ScriptedPlayer()
        let changes: [PlaybackChange] = [.pause, .resume, .next, .previous, .seek(61_000), .volume(40)]
        for change in changes {
            #expect(try await service(player).change(change).types == ["event.PlaybackChanged"])
        }
        #expect(await player.calls == changes.map(ScriptedPlayer.Call.change))
    }

    @Test("A change that fails is reported as playing is: by devices, a missing Premium, or an error")
    func changeFails() async throws {
        let silent = ScriptedPlayer(devices: .success([.kitchen]), play: .noActiveDevice)
        let messages = try await service(silent).change(.resume)
        #expect(messages.types == ["document.Devices", "event.SpotifyDeviceActivationRequired"])
        let poor = try await service(ScriptedPlayer(play: .premiumRequired)).change(.pause)
        #expect(poor.types == ["event.SpotifyPremiumOnlyActionAttempted"])
        let busy = try await service(ScriptedPlayer(play: .rateLimited(retryAfter: .seconds(7)))).change(.next)
        #expect(busy.errorCodes == ["spotify.rate-limited"])
    }

    @Test("The list of devices is published before the event that opens it if no device is active")
    func noActiveDevice() async throws {
        let player = ScriptedPlayer(devices: .success([.kitchen]), play: .noActiveDevice)
        let messages = try await service(player).play(.ready)
        #expect(messages.types == ["document.Devices", "event.SpotifyDeviceActivationRequired"])
        #expect(messages.first(Document.Devices.self)?.devices == [.kitchen])
    }

    @Test("An unknown device also causes the list, whichever command names or uses it")
    func deviceNotFound() async throws {
        let player = ScriptedPlayer(devices: .success([.kitchen]), play: .notFound(.device))
        let expected = ["document.Devices", "event.SpotifyDeviceActivationRequired"]
        #expect(try await service(player).play(.ready).types == expected)
        #expect(try await service(player).change(.pause).types == expected)
        let selected = Command.DeviceSelected(deviceID: "kitchen")
        #expect(try await service(player).play(.ready, on: selected).types == expected)
    }

    @Test("Devices that cannot be listed are an error, not an empty list")
    func noDevices() async throws {
        let player = ScriptedPlayer(devices: .failure(.unavailable("status 500")), play: .noActiveDevice)
        #expect(try await service(player).play(.ready).types == ["error.ApplicationError"])
    }

    @Test("An account without Premium is reported by its own event, not by an error")
    func premium() async throws {
        let player = ScriptedPlayer(play: .premiumRequired)
        #expect(try await service(player).play(.ready).types == ["event.SpotifyPremiumOnlyActionAttempted"])
    }

    @Test("A selected device becomes the active one, and plays")
    func deviceSelected() async throws {
        let player = ScriptedPlayer()
        let messages = try await service(player).play(.ready, on: Command.DeviceSelected(deviceID: "kitchen"))
        #expect(messages.types == ["event.PlaybackStarted"])
        #expect(
            await player.calls == [
                .transfer("kitchen"), .play(["spotify:track:s1", "spotify:track:s2"], on: "kitchen"),
            ])
    }

    @Test(
        "A device that no longer exists causes a new list",
        arguments: [MusicError.notFound(.device), .noActiveDevice])
    func deviceGone(error: MusicError) async throws {
        let player = ScriptedPlayer(devices: .success([.kitchen]), transfer: error)
        let messages = try await service(player).play(.ready, on: Command.DeviceSelected(deviceID: "attic"))
        #expect(messages.types == ["document.Devices", "event.SpotifyDeviceActivationRequired"])
        #expect(await player.calls == [.transfer("attic"), .devices])
    }

    @Test(
        "Every other failure is an error with its own code",
        arguments: [
            (MusicError.notAuthorized, "spotify.not-connected"), (.renewalOverdue, "spotify.renewal-overdue"),
            (.accessUnreadable("tokens"), "spotify.access-unreadable"),
            (.unauthorized(generation: 2), "spotify.unauthorized"), (.playlistForbidden("no"), "spotify.forbidden"),
            (.forbidden("Insufficient client scope"), "spotify.forbidden"),
            (.rateLimited(retryAfter: .seconds(90)), "spotify.rate-limited"),
            (.rateLimited(retryAfter: nil), "spotify.rate-limited"), (.unavailable("x"), "spotify.unavailable"),
            (.tooLong(.playlist("p"), limit: 10_000), "spotify.too-long"),
        ])
    func failures(error: MusicError, code: String) async throws {
        let messages = try await service(ScriptedPlayer(play: error)).play(.ready)
        #expect(messages.errorCodes == [code])
        #expect(messages.count == 1)
    }

    @Test(
        "A wait is described in words, rounded up",
        arguments: [
            (nil, "Try again in a moment."), (Duration.milliseconds(100), "Try again in 1 second."),
            (.seconds(90), "Try again in 90 seconds."), (.seconds(91), "Try again in 2 minutes."),
            (.seconds(5400), "Try again in 90 minutes."), (.seconds(79_200), "Try again in 22 hours."),
            (.seconds(79_201), "Try again in 23 hours."),
        ])
    func wait(time: Duration?, recovery: String) async throws {
        let messages = try await service(ScriptedPlayer(play: .rateLimited(retryAfter: time))).play(.ready)
        #expect(messages.first(ApplicationError.self)?.recovery == recovery)
    }

    @Test("The path of an unreadable vault is logged, and not shown")
    func unreadableVault() async throws {
        let player = ScriptedPlayer(play: .accessUnreadable("/var/lib/segue/vault is damaged"))
        try await confirmation { logged in
            let service = MusicService(repository: StaticRepository(), player: player) {
                #expect($0.contains("/var/lib/segue/vault"))
                logged()
            }
            let error = try await service.play(.ready).first(ApplicationError.self)
            #expect(error.map { "\($0.message) \($0.recovery ?? "")".contains("/") } == false)
        }
    }

    @Test("A play command has a time limit for all its requests together")
    func limit() async throws {
        let service = MusicService(
            repository: StaticRepository(), player: HangingPlayer(), playLimit: .milliseconds(10))
        #expect(try await service.play(.ready).errorCodes == ["spotify.unavailable"])
        let selected = Command.DeviceSelected(deviceID: "kitchen")
        #expect(try await service.play(.ready, on: selected).errorCodes == ["spotify.unavailable"])
    }
}

/// A player whose calls end only when they are cancelled.
private struct HangingPlayer: Player {
    func speakers() async throws -> [Speaker] { [] }

    func play(_ songs: [Song], on deviceID: Speaker.ID?) async throws {
        try await Task.sleep(for: .seconds(3600))
    }

    func playback() async throws -> Playback? { nil }
    func change(_ change: PlaybackChange) async throws {}
    func transfer(to deviceID: Speaker.ID) async throws {}
}
