import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import SpotifySimulator

@Suite("Several accounts")
struct AccountTests {
    private static let songs = #"{"uris":["spotify:track:one"]}"#

    @Test("The consent page offers every account, and the first one is selected")
    func page() async throws {
        try await withSimulator { spotify in
            let page = try await spotify.authorize().text
            let choices = page.matches(of: /name="account" value="([^"]*)"( checked)?/)
            #expect(choices.map { String($0.1) } == ["segue", "night", "guest"])
            #expect(choices.map { $0.2 != nil } == [true, false, false])
            #expect(page.contains("Night Listener"))
            let answer = try await spotify.decide("approve", ["account": "nobody"])
            #expect(answer.status == 400 && answer.text == "Unknown account\n")
            #expect(answer.headers[.location] == nil)
        }
    }

    @Test("A token, and the token that replaces it, belong to the selected account")
    func tokens() async throws {
        try await withSimulator { spotify in
            let first = try await spotify.signIn().accessToken
            let chosen = try await spotify.signIn(as: "night")
            let refreshed: Tokens = try await spotify.refresh(chosen.refreshToken).decoded()
            for token in [chosen.accessToken, refreshed.accessToken] {
                #expect(try await spotify.get("/v1/me", token: token).text.contains(#""id":"night""#))
                let list: Listing<ListedPlaylist> = try await spotify.get("/v1/me/playlists", token: token).decoded()
                #expect(list.items.map(\.id) == ["LateShift", "QuietHours"])
            }
            #expect(try await spotify.get("/v1/me", token: first).text.contains(#""id":"segue""#))
            let items: Listing<ListedItem> = try await spotify.get(
                "/v1/playlists/LateShift/items", token: chosen.accessToken
            ).decoded()
            #expect(items.total == 5)
            // As at Spotify, the items of a playlist are shown only to its owner and its collaborators.
            #expect(
                try await spotify.get("/v1/playlists/LateShift/items", token: first).webAPIError == "403 | Forbidden")
        }
    }

    @Test("Each account has its own player, which the control routes show and change by its name")
    func players() async throws {
        try await withSimulator { spotify in
            let (first, night) = (try await spotify.signIn(), try await spotify.signIn(as: "night"))
            let body = Self.songs
            #expect(try await spotify.put("/v1/me/player/play", body, token: night.accessToken).status == 204)
            #expect(try await spotify.controlState().playback == nil)
            let state: Control = try await spotify.get("/_control/state?account=night").decoded()
            #expect(state.account == "night" && state.playback?.deviceId == "bedroom-speaker")

            #expect(try await spotify.control("devices", ["action": "none"]).account == "segue")
            _ = try await spotify.control("premium", ["premium": "off", "account": "night"])
            let error = "404 | Player command failed: No active device found | NO_ACTIVE_DEVICE"
            #expect(try await spotify.put("/v1/me/player/play", body, token: first.accessToken).webAPIError == error)
            #expect(
                try await spotify.put("/v1/me/player/play", body, token: night.accessToken).webAPIError
                    == "403 | Player command failed: Premium required | PREMIUM_REQUIRED")
            let unknown = try await spotify.post("/_control/premium", ["premium": "on", "account": "nobody"])
            #expect(unknown.status == 400)
            #expect(unknown.text == "there is no account 'nobody'; use one of segue, night, guest\n")
        }
    }

    @Test("Tokens can be revoked for one account, or for all")
    func revocation() async throws {
        try await withSimulator { spotify in
            let (first, night) = (try await spotify.signIn(), try await spotify.signIn(as: "night"))
            _ = try await spotify.control("revoke", ["tokens": "all", "account": "night"])
            #expect(try await spotify.get("/v1/me", token: night.accessToken).status == 401)
            #expect(try await spotify.refresh(night.refreshToken).status == 400)
            #expect(try await spotify.get("/v1/me", token: first.accessToken).status == 200)
            _ = try await spotify.control("revoke", ["tokens": "access"])
            #expect(try await spotify.get("/v1/me", token: first.accessToken).status == 401)
            #expect(try await spotify.refresh(first.refreshToken).status == 200)
        }
    }

    @Test("Players and tokens of the accounts survive the process, and an earlier state file is of the first one")
    func stateFile() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let file = scratch.path("state.json")
        let (first, night) = try await withSimulator(stateFile: file) { spotify in
            let (first, night) = (try await spotify.signIn(), try await spotify.signIn(as: "night"))
            for token in [first.accessToken, night.accessToken] {
                #expect(try await spotify.put("/v1/me/player/play", Self.songs, token: token).status == 204)
            }
            return (first, night)
        }
        try await withSimulator(stateFile: file) { spotify in
            #expect(try await spotify.get("/v1/me", token: night.accessToken).text.contains(#""id":"night""#))
            let state: Control = try await spotify.get("/_control/state?account=night").decoded()
            #expect(state.playback?.deviceId == "bedroom-speaker")
        }

        // The version before had one player and no accounts.
        var stored = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file))) as? [String: Any])
        let players = try #require(stored.removeValue(forKey: "players") as? [String: Any])
        stored["player"] = players["segue"]
        let text = String(decoding: try JSONSerialization.data(withJSONObject: stored), as: UTF8.self)
        try text.replacing(/"account":"[a-z]+",?/, with: "").replacing(",}", with: "}")
            .write(toFile: file, atomically: true, encoding: .utf8)
        try await withSimulator(stateFile: file) { spotify in
            let state = try await spotify.controlState()
            #expect(state.playback?.deviceId == "kitchen-speaker")
            #expect(try await spotify.get("/v1/me", token: first.accessToken).text.contains(#""id":"segue""#))
        }
    }
}
