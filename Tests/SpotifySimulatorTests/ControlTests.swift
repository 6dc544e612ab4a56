import HTTPTypes
import Testing

@testable import SpotifySimulator

@Suite("Control")
struct ControlTests {
    @Test("a rate limit strikes as often as ordered, says when to try again, and then is over")
    func rateLimit() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let order = ["path": "/v1/me/playlists", "status": "429", "retry_after": "2", "count": "2"]
            _ = try await spotify.control("faults", order)
            #expect(try await spotify.get("/v1/me", token: token).status == 200)
            for _ in 1...2 {
                let answer = try await spotify.get("/v1/me/playlists/?limit=5", token: token)
                #expect(try answer.webAPIError == "429 | API rate limit exceeded | QUOTA_EXCEEDED")
                #expect(answer.headers[.retryAfter] == "2")
            }
            #expect(try await spotify.get("/v1/me/playlists", token: token).status == 200)
        }
    }

    @Test("server errors, by beginning of the path and one after the other")
    func serverErrors() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            _ = try await spotify.control("faults", ["path": "/v1/*", "status": "500"])
            _ = try await spotify.control("faults", ["path": "/v1/*", "status": "503"])
            #expect(try await spotify.get("/v1/me", token: token).status == 500)
            #expect(try await spotify.get("/v1/me/player/devices", token: token).status == 503)
            #expect(try await spotify.get("/v1/me", token: token).status == 200)
        }
    }

    @Test("faults reach the token endpoint, and can be called off")
    func tokenEndpoint() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().refreshToken
            _ = try await spotify.control("faults", ["path": "/api/token", "status": "503", "count": "100"])
            #expect(try await spotify.refresh(token).status == 503)
            #expect(try await spotify.send(.delete, "/_control/faults", [:], nil).status == 200)
            #expect(try await spotify.refresh(token).status == 200)
        }
    }

    @Test("a delay holds the request, then lets it through")
    func delay() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            _ = try await spotify.control("faults", ["path": "/v1/me", "delay_ms": "60"])
            let clock = ContinuousClock()
            let start = clock.now
            #expect(try await spotify.get("/v1/me", token: token).status == 200)
            #expect(clock.now - start >= .milliseconds(60))
        }
    }

    @Test("requests are counted by route, its own excepted")
    func counts() async throws {
        try await withSimulator { spotify in
            let tokens = try await spotify.signIn()
            _ = try await spotify.get("/v1/me/", token: tokens.accessToken)
            _ = try await spotify.get("/v1/playlists/DeepFocus/items", token: tokens.accessToken)
            _ = try await spotify.get("/v1/playlists/Nowhere/items", token: tokens.accessToken)
            _ = try await spotify.refresh(tokens.refreshToken)
            let state = try await spotify.controlState()
            #expect(
                state.requests == [
                    "POST /authorize": 1, "POST /api/token": 2, "GET /v1/me": 1, "GET /v1/playlists/{id}/items": 2,
                ]
            )
            #expect(state.tokens.issued == 2)
            #expect(state.tokens.refreshes == 1)
        }
    }

    @Test("the state shows no token")
    func noTokens() async throws {
        try await withSimulator { spotify in
            let tokens = try await spotify.signIn()
            let text = try await spotify.get("/_control/state").text
            #expect(!text.contains(tokens.accessToken))
            let refreshToken = try #require(tokens.refreshToken)
            #expect(!text.contains(refreshToken))
        }
    }

    @Test("reset forgets everything")
    func reset() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            _ = try await spotify.control("premium", ["premium": "off"])
            let state = try await spotify.control("reset", [:])
            #expect(state.premium)
            #expect(state.requests.isEmpty)
            #expect(try await spotify.get("/v1/me", token: token).status == 401)
        }
    }

    @Test(
        "nonsense is refused in one line that names the field",
        arguments: [
            ("revoke", ["tokens": "some"], "tokens"), ("revoke", [:], "tokens"),
            ("premium", ["premium": "yes"], "premium"),
            ("devices", ["action": "explode"], "action"), ("devices", ["action": "activate"], "id"),
            ("devices", ["action": "activate", "id": "toaster"], "toaster"),
            ("faults", ["path": "/v1/me", "status": "200"], "status"), ("faults", ["path": "/v1/me"], "status"),
            ("faults", ["status": "500"], "path"), ("faults", ["path": "v1", "status": "500"], "path"),
        ]
    )
    func nonsense(path: String, fields: [String: String], named: String) async throws {
        try await withSimulator { spotify in
            let answer = try await spotify.post("/_control/\(path)", fields)
            #expect(answer.status == 400)
            #expect(answer.text.contains("'\(named)'"))
            #expect(answer.text.split(separator: "\n").count == 1)
        }
    }

    @Test("the page documents every control route")
    func page() async throws {
        try await withSimulator { spotify in
            let text = try await spotify.get("/_control").text
            for route in ["state", "reset", "revoke", "premium", "devices", "faults"] {
                #expect(text.contains("/_control/\(route)"))
            }
        }
    }
}
