import Foundation
import HTTPClient
import HTTPTypes
import TestSupport
import Testing

@testable import SpotifySimulator

@Suite("Control")
struct ControlTests {
    @Test("A rate limit occurs as often as requested, with the time of the next attempt")
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

    @Test("Server errors can be requested by the beginning of the path, one after the other")
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

    @Test("Faults can be requested for the token endpoint, and cancelled")
    func tokenEndpoint() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().refreshToken
            _ = try await spotify.control("faults", ["path": "/api/token", "status": "503", "count": "100"])
            #expect(try await spotify.refresh(token).status == 503)
            #expect(try await spotify.send(.delete, "/_control/faults", [:], nil).status == 200)
            #expect(try await spotify.refresh(token).status == 200)
        }
    }

    @Test(
        "An error of the token endpoint has the form of RFC 6749, not that of the Web API",
        arguments: [
            ("400", "invalid_request"), ("401", "invalid_client"), ("429", "temporarily_unavailable"),
            ("500", "server_error"), ("503", "temporarily_unavailable"),
        ]
    )
    func tokenEnvelope(status: String, code: String) async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().refreshToken
            _ = try await spotify.control("faults", ["path": "/api/*", "status": status, "retry_after": "3"])
            let answer = try await spotify.refresh(token)
            #expect(try answer.tokenError.hasPrefix("\(status) | \(code) | "))
            #expect(answer.headers[.retryAfter] == "3")
            #expect(answer.headers[.cacheControl] == "no-store")
        }
    }

    @Test("An error of the consent page is text for a user")
    func consentFault() async throws {
        try await withSimulator { spotify in
            _ = try await spotify.control("faults", ["path": "/authorize", "status": "503"])
            let answer = try await spotify.authorize()
            #expect(answer.status == 503)
            #expect(answer.text == "Service unavailable\n")
        }
    }

    @Test("An error has the requested code, in the form of its route")
    func errorCodes() async throws {
        try await withSimulator { spotify in
            let tokens = try await spotify.signIn()
            let order = ["status": "400", "error": "invalid_grant"]
            _ = try await spotify.control("faults", order.merging(["path": "/api/token"]) { $1 })
            let refused = try await spotify.refresh(tokens.refreshToken)
            #expect(try refused.tokenError.hasPrefix("400 | invalid_grant | "))
            _ = try await spotify.control("faults", ["path": "/v1/*", "status": "403", "error": "RATE_LIMITED"])
            let limited = try await spotify.get("/v1/me", token: tokens.accessToken)
            #expect(try limited.webAPIError.hasSuffix(" | RATE_LIMITED"))
        }
    }

    @Test(
        "Any Retry-After can be requested, with any answer",
        arguments: [
            (["status": "429", "retry_after": "-1"], "-1"), (["status": "503", "retry_after": "soon"], "soon"),
            (["status": "429", "retry_after": "99999999999999999999"], "99999999999999999999"),
            (
                ["status": "429", "retry_after": "Wed, 21 Oct 2026 07:28:00 GMT"], "Wed, 21 Oct 2026 07:28:00 GMT"
            ),
            (["status": "429", "retry_after": "none"], nil), (["status": "429"], "1"), (["status": "503"], nil),
            (["body": "empty", "retry_after": "2.5"], "2.5"),
        ] as [([String: String], String?)]
    )
    func retryAfter(order: [String: String], expected: String?) async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            _ = try await spotify.control("faults", order.merging(["path": "/v1/me"]) { $1 })
            #expect(try await spotify.get("/v1/me", token: token).headers[.retryAfter] == expected)
        }
    }

    @Test("An answer can be empty or HTML, with the status of the request or another one")
    func bodies() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            for (order, status, type) in [
                (["body": "not-json"], 200, "text/html; charset=utf-8"),
                (["body": "not-json", "status": "502"], 502, "text/html; charset=utf-8"),
                (["body": "empty"], 200, "application/json; charset=utf-8"),
            ] {
                _ = try await spotify.control("faults", order.merging(["path": "/v1/me"]) { $1 })
                let answer = try await spotify.get("/v1/me", token: token)
                #expect(answer.status == status && answer.headers[.contentType] == type, "\(order)")
                #expect(answer.text.hasPrefix("<!doctype html>") == (order["body"] == "not-json"), "\(order)")
                #expect(answer.text.isEmpty == (order["body"] == "empty"), "\(order)")
            }
            // The request is handled before its answer is damaged.
            let body = #"{"uris":["spotify:track:one"]}"#
            _ = try await spotify.control("faults", ["path": "/v1/me/player/play", "body": "not-json"])
            #expect(try await spotify.put("/v1/me/player/play", body, token: token).status == 204)
            #expect(try await spotify.controlState().playback != nil)
        }
    }

    @Test("A slow body arrives whole, in the requested time")
    func slowBody() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let whole = try await spotify.get("/v1/me/playlists", token: token).text
            _ = try await spotify.control(
                "faults", ["path": "/v1/me/playlists", "body": "slow", "body_ms": "200"])
            let clock = ContinuousClock()
            let start = clock.now
            #expect(try await spotify.get("/v1/me/playlists", token: token).text == whole)
            #expect(clock.now - start >= .milliseconds(150))
        }
    }

    @Test("A truncated body has half of the announced length, and the connection is closed")
    func truncated() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let whole = try await spotify.get("/v1/me", token: token).text
            _ = try await spotify.control("faults", ["path": "/v1/me", "body": "truncated", "count": "2"])
            let request = "GET /v1/me HTTP/1.1\r\nHost: \(spotify.base.dropFirst(7))\r\nAuthorization: Bearer \(token)"
            let answer = try await RawExchange.answer(to: request + "\r\n\r\n", from: spotify.base)
            let parts = answer.components(separatedBy: "\r\n\r\n")
            #expect(parts[0].lowercased().contains("content-length: \(whole.utf8.count)"))
            #expect(parts.last == String(whole.prefix(whole.count / 2)))
            let failure = await #expect(throws: HTTPClient.Failure.self) {
                try await spotify.get("/v1/me", token: token)
            }
            #expect(failure?.code == .broken)
            #expect(try await spotify.get("/v1/me", token: token).text == whole)
        }
    }

    @Test("A delay holds the request, and then answers it")
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

    @Test("Requests are counted by route, except those of the count")
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

    @Test("The state shows no token")
    func noTokens() async throws {
        try await withSimulator { spotify in
            let tokens = try await spotify.signIn()
            let text = try await spotify.get("/_control/state").text
            #expect(!text.contains(tokens.accessToken))
            let refreshToken = try #require(tokens.refreshToken)
            #expect(!text.contains(refreshToken))
        }
    }

    @Test("A reset removes everything")
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
        "An invalid control request is refused in one line that names the field",
        arguments: [
            ("revoke", ["tokens": "some"], "tokens"), ("revoke", [:], "tokens"),
            ("premium", ["premium": "yes"], "premium"),
            ("devices", ["action": "explode"], "action"), ("devices", ["action": "activate"], "id"),
            ("devices", ["action": "activate", "id": "toaster"], "toaster"),
            ("faults", ["path": "/v1/me", "status": "200"], "status"), ("faults", ["path": "/v1/me"], "status"),
            ("faults", ["path": "/v1/me", "body": "odd"], "body"),
            ("faults", ["path": "/v1/me", "body": "slow", "body_ms": "-1"], "body_ms"),
            ("faults", ["path": "/v1/me", "status": "429", "retry_after": "a\nb"], "retry_after"),
            ("player", ["action": "dance"], "action"), ("player", ["action": "seek"], "position_ms"),
            ("player", ["action": "volume", "volume_percent": "101"], "volume_percent"),
            ("player", ["action": "repeat", "state": "on"], "state"),
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

    @Test("A change that the playback does not allow is refused as text")
    func refusedChange() async throws {
        try await withSimulator { spotify in
            let answer = try await spotify.post("/_control/player", ["action": "pause"])
            #expect(answer.status == 403 && answer.text == "Player command failed: Restriction violated\n")
            _ = try await spotify.control("devices", ["action": "deactivate"])
            let inactive = try await spotify.post("/_control/player", ["action": "play"])
            #expect(inactive.status == 404 && inactive.text == "Player command failed: No active device found\n")
        }
    }

    @Test("The page documents every control route")
    func page() async throws {
        try await withSimulator { spotify in
            let text = try await spotify.get("/_control").text
            for route in ["state", "reset", "revoke", "premium", "market", "devices", "player", "faults"] {
                #expect(text.contains("/_control/\(route)"))
            }
        }
    }
}
