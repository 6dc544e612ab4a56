import HTTPTypes
import Testing

@testable import SpotifySimulator

@Suite("Player")
struct PlayerTests {
    private static let tracks = #"{"uris":["spotify:track:one","spotify:track:two"]}"#

    @Test("Playback starts on the active device")
    func play() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let answer = try await spotify.put("/v1/me/player/play", Self.tracks, token: token)
            #expect(answer.status == 204)
            #expect(answer.text.isEmpty)
            let playback = try #require(try await spotify.controlState().playback)
            #expect(playback.deviceId == "kitchen-speaker")
            #expect(playback.isPlaying)
            #expect(playback.tracks == ["spotify:track:one", "spotify:track:two"])
        }
    }

    @Test("A command without an active device gets 404, until one is named, selected or activated")
    func noActiveDevice() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let error = "404 | Player command failed: No active device found | NO_ACTIVE_DEVICE"

            _ = try await spotify.control("devices", ["action": "deactivate"])
            #expect(try await spotify.put("/v1/me/player/play", Self.tracks, token: token).webAPIError == error)
            let path = "/v1/me/player/play?device_id=work-laptop"
            #expect(try await spotify.put(path, Self.tracks, token: token).status == 204)
            #expect(try await Self.active(spotify, token) == ["work-laptop"])

            _ = try await spotify.control("devices", ["action": "deactivate"])
            let transfer = #"{"device_ids":["kitchen-speaker"],"play":false}"#
            #expect(try await spotify.put("/v1/me/player", transfer, token: token).status == 204)
            #expect(try await Self.active(spotify, token) == ["kitchen-speaker"])
            #expect(try await spotify.put("/v1/me/player/play", Self.tracks, token: token).status == 204)

            _ = try await spotify.control("devices", ["action": "none"])
            #expect(try await Self.devices(spotify, token).devices.isEmpty)
            #expect(try await spotify.put("/v1/me/player/play", Self.tracks, token: token).webAPIError == error)

            _ = try await spotify.control("devices", ["action": "all"])
            _ = try await spotify.control("devices", ["action": "activate", "id": "work-laptop"])
            #expect(try await Self.active(spotify, token) == ["work-laptop"])
        }
    }

    @Test("A transfer keeps what plays")
    func transfer() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            _ = try await spotify.put("/v1/me/player/play", Self.tracks, token: token)
            _ = try await spotify.put("/v1/me/player", #"{"device_ids":["work-laptop"]}"#, token: token)
            let playback = try #require(try await spotify.controlState().playback)
            #expect(playback.deviceId == "work-laptop")
            #expect(playback.tracks.count == 2)
        }
    }

    @Test("The player refuses without Premium on every device, and plays again with it")
    func premium() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let error = "403 | Player command failed: Premium required | PREMIUM_REQUIRED"
            #expect(try await spotify.control("premium", ["premium": "off"]).premium == false)
            #expect(try await spotify.put("/v1/me/player/play", Self.tracks, token: token).webAPIError == error)
            let transfer = #"{"device_ids":["work-laptop"]}"#
            #expect(try await spotify.put("/v1/me/player", transfer, token: token).webAPIError == error)
            #expect(try await spotify.get("/v1/me/player/devices", token: token).status == 200)
            _ = try await spotify.control("premium", ["premium": "on"])
            #expect(try await spotify.put("/v1/me/player/play", Self.tracks, token: token).status == 204)
        }
    }

    @Test(
        "An invalid command is refused",
        arguments: [
            ("/v1/me/player", #"{"device_ids":["kitchen-speaker","work-laptop"]}"#, 400),
            ("/v1/me/player", #"{"device_ids":[]}"#, 400),
            ("/v1/me/player", "{}", 400),
            ("/v1/me/player", #"{"device_ids":["toaster"]}"#, 404),
            ("/v1/me/player/play", "not json", 400),
            ("/v1/me/player/play", #"{"uris":[]}"#, 400),
            ("/v1/me/player/play", #"{"uris":["spotify:album:one"]}"#, 400),
            ("/v1/me/player/play", #"{"context_uri":"spotify:track:one"}"#, 400),
            ("/v1/me/player/play", #"{"context_uri":"spotify:album:a","uris":["spotify:track:b"]}"#, 400),
            ("/v1/me/player/play?device_id=toaster", "{}", 404),
        ]
    )
    func nonsense(path: String, body: String, status: Int) async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            #expect(try await spotify.put(path, body, token: token).webAPIError.hasPrefix("\(status) | "))
            #expect(try await spotify.controlState().playback == nil)
        }
    }

    @Test("Commands need the scope to modify playback")
    func scope() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn(scopes: "user-read-playback-state").accessToken
            let answer = try await spotify.put("/v1/me/player/play", Self.tracks, token: token)
            #expect(try answer.webAPIError == "403 | Insufficient client scope")
        }
    }

    @Test("The playback state follows the songs, and every command changes it")
    func playbackState() async throws {
        let clock = ManualClock()
        try await withSimulator(clock: clock) { spotify in
            let token = try await spotify.signIn(scopes: Self.allScopes).accessToken
            let body = #"{"context_uri":"spotify:playlist:DeepFocus","offset":{"position":1},"position_ms":5000}"#
            #expect(try await spotify.put("/v1/me/player/play", body, token: token).status == 204)
            clock.advance(by: 2)
            var state = try await Self.state(spotify, token)
            #expect(WebAPISchema.playbackState.differences(state) == [])
            #expect(state["item"]["name"] == .text("Slow Tide"))
            #expect(state["context"]["uri"] == .text("spotify:playlist:DeepFocus"))
            #expect(state["progress_ms"] == .number(7_000))
            #expect(state["timestamp"] == .number(1_790_000_000_000))
            #expect(state["is_playing"] == .flag(true))
            #expect(state["device"]["volume_percent"] == .number(40))
            #expect(state["actions"]["disallows"] == .object(["resuming": .flag(true)]))

            // No song is longer than five and a half minutes.
            clock.advance(by: 330)
            state = try await Self.state(spotify, token)
            #expect(state["item"]["name"] == .text("Salt Flats"))

            for (method, path, name, isPlaying) in [
                (.put, "pause", "Salt Flats", false), (.put, "play", "Salt Flats", true),
                (.post, "next", "Longshore", true), (.post, "previous", "Salt Flats", true),
                (.put, "seek?position_ms=99999999", "Longshore", true),
                (.put, "volume?volume_percent=7&device_id=kitchen-speaker", "Longshore", true),
            ] as [(HTTPRequest.Method, String, String, Bool)] {
                let answer = try await Self.command(method, path, spotify, token)
                #expect(answer.status == 204 && answer.text.isEmpty, "\(path)")
                state = try await Self.state(spotify, token)
                #expect(state["item"]["name"] == .text(name), "\(path)")
                #expect(state["is_playing"] == .flag(isPlaying), "\(path)")
            }
            #expect(state["device"]["volume_percent"] == .number(7))
            let song = try await spotify.get("/v1/me/player/currently-playing", token: token)
            let playing = try song.decoded(JSONValue.self, literally: true)
            #expect(WebAPISchema.currentlyPlaying.differences(playing) == [])
            #expect(playing["item"] == state["item"] && playing["progress_ms"] == .number(0))
        }
    }

    @Test("There is no playback state without an active device, and no song without music")
    func nothing() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn(scopes: Self.allScopes).accessToken
            let idle = try await Self.state(spotify, token)
            #expect(WebAPISchema.playbackState.differences(idle) == [])
            #expect(idle["item"] == .null && idle["is_playing"] == .flag(false))
            #expect(try await spotify.get("/v1/me/player/currently-playing", token: token).status == 204)
            _ = try await spotify.control("devices", ["action": "deactivate"])
            let none = try await spotify.get("/v1/me/player", token: token)
            #expect(none.status == 204 && none.text.isEmpty)
        }
    }

    @Test(
        "Player commands that the state or a value does not allow are refused",
        arguments: [
            (.put, "seek", "400 | Missing required field: position_ms"),
            (.put, "seek?position_ms=-1", "400 | Invalid position_ms"),
            (.put, "seek?position_ms=soon", "400 | Invalid position_ms"),
            (.put, "volume?volume_percent=101", "400 | Invalid volume_percent"),
            (.put, "volume", "400 | Missing required field: volume_percent"),
            (.put, "play", "403 | Player command failed: Restriction violated | UNKNOWN"),
            (.post, "previous", "403 | Player command failed: Restriction violated | UNKNOWN"),
            (.put, "pause?device_id=work-laptop", "403 | Player command failed: Restriction violated | UNKNOWN"),
            (.put, "pause?device_id=toaster", "404 | Device not found"),
        ] as [(HTTPRequest.Method, String, String)]
    )
    func refusals(method: HTTPRequest.Method, path: String, error: String) async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn(scopes: Self.allScopes).accessToken
            _ = try await spotify.put("/v1/me/player/play", Self.tracks, token: token)
            let before = try await Self.state(spotify, token)
            #expect(try await Self.command(method, path, spotify, token).webAPIError == error)
            #expect(try await Self.state(spotify, token) == before)
        }
    }

    @Test(
        "Every player command needs Premium, an active device and music",
        arguments: [
            (.put, "pause"), (.post, "next"), (.post, "previous"), (.put, "seek?position_ms=1"), (.put, "play"),
        ] as [(HTTPRequest.Method, String)]
    )
    func conditions(method: HTTPRequest.Method, path: String) async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn(scopes: Self.allScopes).accessToken
            func error() async throws -> String { try await Self.command(method, path, spotify, token).webAPIError }
            let idle = try await error()
            #expect(idle == "403 | Player command failed: Restriction violated | UNKNOWN")
            _ = try await spotify.control("devices", ["action": "deactivate"])
            let inactive = try await error()
            #expect(inactive == "404 | Player command failed: No active device found | NO_ACTIVE_DEVICE")
            _ = try await spotify.control("premium", ["premium": "off"])
            let free = try await error()
            #expect(free == "403 | Player command failed: Premium required | PREMIUM_REQUIRED")
        }
    }

    @Test(
        "A play command starts at its offset",
        arguments: [
            (#"{"context_uri":"spotify:playlist:DeepFocus","offset":{"position":11}}"#, "Room 8"),
            (#"{"context_uri":"spotify:playlist:DeepFocus","offset":{"uri":"SALT"}}"#, "Salt Flats"),
            (#"{"uris":["spotify:track:x","SALT"],"offset":{"position":1}}"#, "Salt Flats"),
            (#"{"context_uri":"ALBUM","offset":{"position":3}}"#, "Longshore"),
            (#"{"context_uri":"ARTIST"}"#, "Undertow"),
            (#"{"context_uri":"spotify:playlist:DeepFocus","offset":{"position":12}}"#, "400 | Invalid offset"),
            (#"{"context_uri":"spotify:playlist:DeepFocus","offset":{"position":-1}}"#, "400 | Invalid offset"),
            (
                #"{"context_uri":"spotify:playlist:DeepFocus","offset":{"uri":"spotify:track:x"}}"#,
                "400 | Invalid offset"
            ),
            (#"{"context_uri":"spotify:playlist:DeepFocus","offset":{}}"#, "400 | Malformed json"),
            (
                #"{"context_uri":"ARTIST","offset":{"position":0}}"#,
                "400 | Can't have offset for context type: ARTIST"
            ),
            (#"{"context_uri":"spotify:playlist:Nowhere"}"#, "404 | Context not found"),
        ]
    )
    func offset(body: String, expected: String) async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn(scopes: Self.allScopes).accessToken
            let song = Catalogue.Song(artist: "Hollow Pines", album: "Undertow", title: "Salt Flats")
            let body = body.replacing("SALT", with: song.uri)
                .replacing("ALBUM", with: "spotify:album:\(song.albumID)")
                .replacing("ARTIST", with: "spotify:artist:\(song.artistID)")
            let answer = try await spotify.put("/v1/me/player/play", body, token: token)
            if answer.status == 204 {
                let state = try await Self.state(spotify, token)
                #expect(state["item"]["name"] == .text(expected))
            } else {
                #expect(try answer.webAPIError == expected)
            }
        }
    }

    @Test("A user can change the playback in another app, also without Premium")
    func otherClient() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn(scopes: Self.allScopes).accessToken
            _ = try await spotify.control("premium", ["premium": "off"])
            for (fields, name, isPlaying) in [
                (["action": "play", "context": "spotify:playlist:DeepFocus"], "Undertow", true),
                (["action": "pause"], "Undertow", false), (["action": "play"], "Undertow", true),
                (["action": "next"], "Slow Tide", true), (["action": "previous"], "Undertow", true),
                (["action": "seek", "position_ms": "1000"], "Undertow", true),
                (["action": "volume", "volume_percent": "12"], "Undertow", true),
                (["action": "repeat", "state": "context"], "Undertow", true),
                (["action": "shuffle", "state": "on"], "Undertow", true),
                (["action": "previous"], "Room 8", true),
            ] {
                _ = try await spotify.control("player", fields)
                let state = try await Self.state(spotify, token)
                #expect(state["item"]["name"] == .text(name), "\(fields)")
                #expect(state["is_playing"] == .flag(isPlaying), "\(fields)")
            }
            _ = try await spotify.control("devices", ["action": "activate", "id": "work-laptop"])
            let state = try await Self.state(spotify, token)
            #expect(state["device"]["id"] == .text("work-laptop") && state["is_playing"] == .flag(true))
            #expect(state["repeat_state"] == .text("context") && state["shuffle_state"] == .flag(true))
            _ = try await spotify.control("devices", ["action": "activate", "id": "kitchen-speaker"])
            let volume = try await Self.state(spotify, token)["device"]["volume_percent"]
            #expect(volume == .number(12))
        }
    }

    private static let allScopes = SpotifyClient.scopes + " user-read-currently-playing"

    private static func state(_ spotify: SpotifyClient, _ token: String) async throws -> JSONValue {
        try await spotify.get("/v1/me/player", token: token).decoded(JSONValue.self, literally: true)
    }

    private static func command(
        _ method: HTTPRequest.Method, _ path: String, _ spotify: SpotifyClient, _ token: String
    ) async throws -> Answer {
        try await spotify.send(method, "/v1/me/player/\(path)", [.authorization: "Bearer \(token)"], nil)
    }

    private static func devices(_ spotify: SpotifyClient, _ token: String) async throws -> ListedDevices {
        try await spotify.get("/v1/me/player/devices", token: token).decoded()
    }

    private static func active(_ spotify: SpotifyClient, _ token: String) async throws -> [String] {
        try await devices(spotify, token).active
    }
}
