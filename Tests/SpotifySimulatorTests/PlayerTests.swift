import Testing

@testable import SpotifySimulator

@Suite("Player")
struct PlayerTests {
    private static let tracks = #"{"uris":["spotify:track:one","spotify:track:two"]}"#

    @Test("playback starts on the active device")
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

    @Test("with no active device: 404, until one is named, transferred to or woken")
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

    @Test("a transfer takes what plays along")
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

    @Test("without premium the player refuses, whatever the device; with it again it plays")
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
        "commands that make no sense",
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

    @Test("commands take the scope to modify playback")
    func scope() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn(scopes: "user-read-playback-state").accessToken
            let answer = try await spotify.put("/v1/me/player/play", Self.tracks, token: token)
            #expect(try answer.webAPIError == "403 | Insufficient client scope")
        }
    }

    @Test("a restricted device takes no commands; resuming keeps the tracks")
    func state() throws {
        let restricted = Catalogue.Device(id: "a", name: "A", type: "Speaker", isActive: true, isRestricted: true)
        let open = Catalogue.Device(id: "b", name: "B", type: "Speaker", isActive: false, isRestricted: false)
        var player = PlayerState(isPremium: true, devices: [restricted, open])
        #expect(throws: WebAPIError.restrictedDevice) { try player.play(PlayCommand(), on: nil) }
        try player.play(PlayCommand(tracks: ["spotify:track:one"], positionInMilliseconds: 7), on: "b")
        try player.play(PlayCommand(), on: nil)
        #expect(player.playback?.tracks == ["spotify:track:one"])
        #expect(player.playback?.positionInMilliseconds == 7)
    }

    private static func devices(_ spotify: SpotifyClient, _ token: String) async throws -> ListedDevices {
        try await spotify.get("/v1/me/player/devices", token: token).decoded()
    }

    private static func active(_ spotify: SpotifyClient, _ token: String) async throws -> [String] {
        try await devices(spotify, token).active
    }
}
