import Contracts
import EventBus
import HTTPClient
import HTTPTypes
import RuntimeTestSupport
import SpotifyTestSupport
import Testing
import Vocabulary

@Suite("Choosing and playing", .timeLimit(.minutes(2)))
struct MusicStoryTests {
    @Test("A connected account's playlists are shown, all of them")
    func playlists() async throws {
        try await Stage.with { stage in
            try await stage.withServices {
                let (cause, url) = try await stage.requestConsent()
                _ = try await stage.press("approve", at: url)
                let _: DomainEvent.PlaylistsLoaded = try await stage.device.outcome(of: cause)
                let shown = try await stage.device.document(Document.Playlists.self)
                #expect(shown?.playlists.count == 24)
                #expect(shown?.playlists.first?.name == "Deep Focus")
            }
        }
    }

    @Test("A playlist is shown as loading, then ready with all its songs, in an order that belongs to the command")
    func selection() async throws {
        try await connected { stage in
            let cause = try await stage.device.tap(Command.PlaylistSelected(playlistID: "EndlessFocus"))
            let ready = try await stage.generated(by: cause, .ready)
            #expect(
                try await stage.device.story(of: cause) == [
                    "document.GeneratedPlaylist", "document.GeneratedPlaylist", "event.PlaylistShuffled",
                ])
            let loading = try await stage.generated(by: cause, .loading)
            #expect(loading.playlistID == "EndlessFocus" && loading.songs.isEmpty)
            #expect(ready.songs.count == 120)

            let again = try await stage.device.tap(Command.PlaylistSelected(playlistID: "EndlessFocus"))
            let other = try await stage.generated(by: again, .ready)
            #expect(Set(other.songs) == Set(ready.songs))
            #expect(other.songs != ready.songs)
        }
    }

    @Test("An unknown playlist fails with an error, and the next one loads")
    func unknown() async throws {
        try await connected { stage in
            let cause = try await stage.device.tap(Command.PlaylistSelected(playlistID: "nope"))
            let error: ApplicationError = try await stage.device.outcome(of: cause)
            #expect(error.code == "spotify.not-found")
            #expect(try await stage.device.document(Document.GeneratedPlaylist.self)?.status == .failed)
            _ = try await stage.choose("DeepFocus")
        }
    }

    @Test("The songs of a chosen playlist can be asked for while Spotify is away, in the focus playlist's order")
    func query() async throws {
        try await connected { stage in
            let generated = try await stage.choose("DeepFocus")
            try await stage.spotify.control("faults", "path=/v1/*&status=503&count=99")
            let answer = try await stage.device.ask(Query.PlaylistSongs(playlistID: "DeepFocus"))
            #expect(answer.songs == generated.songs && answer.total == generated.total)
            let rest = try await stage.device.ask(Query.PlaylistSongs(playlistID: "DeepFocus", offset: 5))
            #expect(rest.songs == Array(generated.songs.dropFirst(5)))
            let error = await #expect(throws: ApplicationError.self) {
                try await stage.device.ask(Query.PlaylistSongs(playlistID: "nope"))
            }
            #expect(error?.code == "music.unknown-playlist")
        }
    }

    @Test("While songs are loaded, playing and another choice are answered; the later choice ends the earlier load")
    func beside() async throws {
        try await connected { stage in
            // The songs of the first playlist do not arrive while the test runs.
            try await stage.spotify.control("faults", "path=/v1/playlists/EndlessFocus/*&delay_ms=9000&count=99")
            let slow = try await stage.device.tap(Command.PlaylistSelected(playlistID: "EndlessFocus"))
            _ = try await stage.generated(by: slow, .loading)
            let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
            let error: ApplicationError = try await stage.device.outcome(of: play)
            #expect(error.code == "music.nothing-to-play")

            let ready = try await stage.choose("DeepFocus")
            #expect(ready.playlistID == "DeepFocus")
            let discarded: DomainEvent.MessageDiscarded = try await stage.device.outcome(of: slow)
            #expect(discarded.messageID == slow.id)
            let next = try await stage.device.tap(Command.PlayOnSpotifyRequested())
            let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: next)
            #expect(
                try await stage.device.story(of: slow) == ["document.GeneratedPlaylist", "event.MessageDiscarded"])
        }
    }

    @Test("A load that a killed music-service leaves is finished by the next one, with one result")
    func killed() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService {
                try await stage.connect()
                try await stage.spotify.control("faults", "path=/v1/playlists/*&delay_ms=9000&count=99")
                let cause = try await stage.device.tap(Command.PlaylistSelected(playlistID: "EndlessFocus"))
                try await stage.withMusicService { _ = try await stage.generated(by: cause, .loading) }
                let faults = stage.spotify.base + "/_control/faults"
                _ = try await stage.spotify.send(HTTPClient.Request(.delete, faults))
                try await stage.withMusicService {
                    let ready = try await stage.generated(by: cause, .ready)
                    #expect(ready.songs.count == 120)
                    let query = Query.PlaylistSongs(playlistID: "EndlessFocus")
                    #expect(try await stage.device.ask(query).songs == ready.songs, "the order is that of the command")
                    _ = try await stage.choose("DeepFocus")
                }
                #expect(
                    try await stage.device.story(of: cause) == [
                        "document.GeneratedPlaylist", "document.GeneratedPlaylist", "event.PlaylistShuffled",
                    ])
            }
        }
    }

    @Test("When the session ends, the load of its songs ends, and no document comes after it")
    func endedSession() async throws {
        try await connected { stage in
            try await stage.spotify.control("faults", "path=/v1/playlists/*&delay_ms=9000&count=99")
            let slow = try await stage.device.tap(Command.PlaylistSelected(playlistID: "EndlessFocus"))
            _ = try await stage.generated(by: slow, .loading)
            try await stage.device.endSession()
            try await stage.device.withdrawn([Document.GeneratedPlaylist.type], in: Session.default)
            #expect(try await stage.device.story(of: slow) == ["document.GeneratedPlaylist"])
        }
    }

    @Test("Without an active device the devices are offered, and the one that is picked plays")
    func devices() async throws {
        try await connected { stage in
            _ = try await stage.choose("DeepFocus")
            try await stage.spotify.control("devices", "action=deactivate")
            let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
            let _: DomainEvent.SpotifyDeviceActivationRequired = try await stage.device.outcome(of: play)
            let offered = try await stage.device.document(Document.Devices.self)
            #expect(offered?.devices.map(\.id) == ["kitchen-speaker", "work-laptop"])

            let pick = try await stage.device.tap(Command.DeviceSelected(deviceID: "work-laptop"))
            let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: pick)
            let next = try await stage.device.tap(Command.PlayOnSpotifyRequested())
            let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: next)
        }
    }

    @Test("Without Premium it is told so, and there is no error")
    func premium() async throws {
        try await connected { stage in
            _ = try await stage.choose("DeepFocus")
            try await stage.spotify.control("premium", "premium=off")
            let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
            let _: DomainEvent.SpotifyPremiumOnlyActionAttempted = try await stage.device.outcome(of: play)
            #expect(try await stage.device.story(of: play) == ["event.SpotifyPremiumOnlyActionAttempted"])
        }
    }

    @Test("A music-service that is started anew goes on with the playlist that is shown")
    func restart() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService {
                try await stage.connect()
                try await stage.withMusicService { _ = try await stage.choose("DeepFocus") }
                let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
                try await stage.withMusicService {
                    let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: play)
                }
            }
        }
    }

    private func connected(_ body: @escaping @Sendable (Stage) async throws -> Void) async throws {
        try await Stage.with { stage in
            try await stage.withServices {
                try await stage.connect()
                try await body(stage)
            }
        }
    }
}
