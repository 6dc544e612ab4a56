import Contracts
import EventBus
import Foundation
import HTTPClient
import HTTPTypes
import SpotifyTestSupport
import TestSupport
import Testing
import Vocabulary

@Suite("Choosing and playing", .timeLimit(.minutes(2)))
struct MusicStoryTests {
    @Test("All playlists of a connected account are shown")
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

    @Test("A log-out is handled while Spotify delays the playlists, and ends their load")
    func logOutWhileLoading() async throws {
        try await Stage.with { stage in
            try await stage.withServices {
                let (load, url) = try await stage.requestConsent()
                try await stage.beginLoad(of: load, at: url, faults: "status=429&retry_after=60&count=99")
                let logOut = try await stage.device.tap(Command.SpotifyDeauthorizationRequested())
                let cleared: Document.Playlists = try await stage.device.outcome(of: logOut)
                #expect(cleared.playlists.isEmpty && cleared.status == .ready)
                let _: DomainEvent.MessageDiscarded = try await stage.device.outcome(of: load)
                let story = try await stage.loadStory(of: load)
                #expect(story == ["document.Playlists", "event.MessageDiscarded"])
            }
        }
    }

    @Test("A log-out ends a delayed load of songs without an error, and nothing is stored")
    func logOutWhileSongsLoad() async throws {
        try await connected { stage in
            let faults = "path=/v1/playlists/*&status=429&retry_after=60&count=99"
            try await stage.spotify.control("faults", faults)
            let load = try await stage.device.tap(Command.PlaylistSelected(playlistID: "EndlessFocus"))
            _ = try await stage.generated(by: load, .loading)
            try await stage.spotify.isRequested("GET /v1/playlists/{id}/items")
            let logOut = try await stage.device.tap(Command.SpotifyDeauthorizationRequested())
            let discarded: DomainEvent.MessageDiscarded = try await stage.device.outcome(of: load)
            #expect(discarded.messageID == load.id)
            #expect(try await stage.device.document(Document.GeneratedPlaylist.self)?.status == .failed)
            let _: Document.Playlists = try await stage.device.outcome(of: logOut)
            let story = ["document.GeneratedPlaylist", "document.GeneratedPlaylist", "event.MessageDiscarded"]
            #expect(try await stage.device.story(of: load) == story)
            #expect(try await stage.device.everything().allSatisfy { $0.type != ApplicationError.type })
            await #expect(throws: ApplicationError.self) {
                try await stage.device.ask(Query.PlaylistSongs(playlistID: "EndlessFocus"))
            }
        }
    }

    @Test("The former playlists stay while they are loaded again, and a later launch ends the earlier load")
    func loadedAgain() async throws {
        try await connected { stage in
            _ = try await stage.device.first(DomainEvent.PlaylistsLoaded.self) { _ in true }
            let route = "GET /v1/me/playlists"
            let loads = try await stage.spotify.requests()[route] ?? 0
            try await stage.spotify.control("faults", "path=/v1/me/playlists&delay_ms=60000&count=1")
            let first = try await stage.device.publish(DomainEvent.LaunchFinished())
            let loading: Document.Playlists = try await stage.device.outcome(of: first)
            #expect(loading.status == .loading && loading.playlists.count == 24)
            // The request follows the document. If it came after the end of the fault, it would be answered at once.
            try await stage.spotify.isRequested(route, times: loads + 1)
            let faults = stage.spotify.base + "/_control/faults"
            _ = try await stage.spotify.send(HTTPClient.Request(.delete, faults))
            let second = try await stage.device.publish(DomainEvent.LaunchFinished())
            let _: DomainEvent.PlaylistsLoaded = try await stage.device.outcome(of: second)
            #expect(try await stage.device.document(Document.Playlists.self)?.status == .ready)
            let _: DomainEvent.MessageDiscarded = try await stage.device.outcome(of: first)
            #expect(try await stage.loadStory(of: first) == ["document.Playlists", "event.MessageDiscarded"])
        }
    }

    @Test("Each tap is answered locally while Spotify asks to wait for hours, with the time of the next attempt")
    func longWait() async throws {
        try await connected { stage in
            _ = try await stage.device.first(DomainEvent.PlaylistsLoaded.self) { _ in true }
            try await stage.spotify.control("faults", "path=/v1/me/player/*&status=429&retry_after=79200&count=1")
            let first = try await stage.device.tap(Command.PauseRequested())
            let refused: ApplicationError = try await stage.device.outcome(of: first)
            #expect(refused.code == "spotify.rate-limited" && refused.recovery == "Try again in 22 hours.")
            let sent = try await stage.spotify.requests()
            for command in [
                Command.ResumeRequested() as any CommandMessage, Command.PlaylistSelected(playlistID: "DeepFocus"),
            ] {
                let tap = try await stage.device.tap(command)
                let answer: ApplicationError = try await stage.device.outcome(of: tap)
                #expect(answer.code == "spotify.rate-limited")
            }
            #expect(try await stage.spotify.requests() == sent)
        }
    }

    @Test("A document of playlists that cannot be read is replaced by the next load")
    func unreadable() async throws {
        try await connected { stage in
            _ = try await stage.device.first(DomainEvent.PlaylistsLoaded.self) { _ in true }
            let attributes = try Envelope(Document.Playlists(playlists: []), source: "device/test").attributes
            let broken = Envelope(attributes: attributes, data: Data(#"{"playlists":1}"#.utf8))
            try await stage.device.publish(Batch([broken]))
            let launch = try await stage.device.publish(DomainEvent.LaunchFinished())
            let _: DomainEvent.PlaylistsLoaded = try await stage.device.outcome(of: launch)
            #expect(try await stage.device.document(Document.Playlists.self)?.playlists.count == 24)
        }
    }

    @Test("The next music-service finishes the playlists' load of a killed one, with one result")
    func killedLoad() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService {
                let (load, url) = try await stage.requestConsent()
                try await stage.withMusicService {
                    try await stage.beginLoad(of: load, at: url, faults: "delay_ms=60000&count=99")
                }
                let faults = stage.spotify.base + "/_control/faults"
                _ = try await stage.spotify.send(HTTPClient.Request(.delete, faults))
                try await stage.withMusicService {
                    let _: DomainEvent.PlaylistsLoaded = try await stage.device.outcome(of: load)
                    #expect(try await stage.device.document(Document.Playlists.self)?.playlists.count == 24)
                }
                #expect(
                    try await stage.loadStory(of: load) == [
                        "document.Playlists", "document.Playlists", "event.PlaylistsLoaded",
                    ])
            }
        }
    }

    @Test("The load of the playlists ends with the session, and no document follows")
    func sessionEndsWhileLoading() async throws {
        try await Stage.with { stage in
            try await stage.withServices {
                let (load, url) = try await stage.requestConsent()
                try await stage.beginLoad(of: load, at: url, faults: "delay_ms=60000&count=99")
                try await stage.device.endSession()
                try await stage.device.withdrawn([Document.Playlists.type], in: Session.default)
                #expect(try await stage.loadStory(of: load) == ["document.Playlists"])
            }
        }
    }

    @Test("A playlist is shown as loading, then ready with all songs, in an order given by the command")
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

    @Test("The songs of a chosen playlist can be queried while Spotify is away, in their order")
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

    @Test("Playing and another choice are answered during a load of songs, and the later choice ends it")
    func beside() async throws {
        try await connected { stage in
            // The songs of the first playlist do not arrive while the test runs.
            try await stage.spotify.control("faults", "path=/v1/playlists/EndlessFocus/*&delay_ms=60000&count=99")
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

    @Test("The next music-service finishes the songs' load of a killed one, with one result")
    func killed() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService {
                try await stage.connect()
                try await stage.spotify.control("faults", "path=/v1/playlists/*&delay_ms=60000&count=99")
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

    @Test("The load of songs ends with the session, and no document follows")
    func endedSession() async throws {
        try await connected { stage in
            try await stage.spotify.control("faults", "path=/v1/playlists/*&delay_ms=60000&count=99")
            let slow = try await stage.device.tap(Command.PlaylistSelected(playlistID: "EndlessFocus"))
            _ = try await stage.generated(by: slow, .loading)
            try await stage.device.endSession()
            try await stage.device.withdrawn([Document.GeneratedPlaylist.type], in: Session.default)
            #expect(try await stage.device.story(of: slow) == ["document.GeneratedPlaylist"])
        }
    }

    @Test("The devices are offered if none is active, and the chosen one plays")
    func speakers() async throws {
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

    @Test("A missing Premium is reported by an event, without an error")
    func premium() async throws {
        try await connected { stage in
            _ = try await stage.choose("DeepFocus")
            try await stage.spotify.control("premium", "premium=off")
            let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
            let _: DomainEvent.SpotifyPremiumOnlyActionAttempted = try await stage.device.outcome(of: play)
            #expect(try await stage.device.story(of: play) == ["event.SpotifyPremiumOnlyActionAttempted"])
        }
    }

    @Test("A restarted music-service continues with the playlist that is shown")
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

extension Stage {
    /// Connects an account whose playlists Spotify does not return, and waits until they are being loaded.
    fileprivate func beginLoad(of cause: Envelope, at url: String, faults: String) async throws {
        try await spotify.control("faults", "path=/v1/me/playlists&\(faults)")
        _ = try await press("approve", at: url)
        let _: Document.Playlists = try await device.outcome(of: cause) { $0.status == .loading }
        try await spotify.isRequested("GET /v1/me/playlists")
    }

    /// The types of the messages about a load of the playlists, in order.
    fileprivate func loadStory(of cause: Envelope) async throws -> [String] {
        try await device.story(of: cause).filter { !$0.hasPrefix("event.SpotifyAuth") }
    }
}
