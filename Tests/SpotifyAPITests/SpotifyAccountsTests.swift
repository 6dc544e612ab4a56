import Authorization
import Foundation
import HTTPClient
import SpotifyAPI
import SpotifyTestSupport
import Testing

@Suite("Spotify's authorization server")
struct SpotifyAccountsTests {
    let verifier = CodeVerifier()

    func accounts(_ client: HTTPClient, _ host: BaseURL) -> SpotifyAccounts {
        SpotifyAccounts(clientID: "the-client", client: client, host: host, policy: .impatient)
    }

    @Test("The URL requests a code with PKCE, and every value is escaped")
    func authorizationURL() async throws {
        try await ScriptedSpotify.with { _, client, _ in
            let request = AuthorizationRequest(
                state: "a&b=c+d e", codeChallenge: verifier.challenge, redirectURI: "http://127.0.0.1:1/callback")
            let url = accounts(client, .spotifyAccounts).authorizationURL(for: request)
            let components = try #require(URLComponents(string: url))
            let fields = Dictionary(uniqueKeysWithValues: (components.queryItems ?? []).map { ($0.name, $0.value) })

            #expect(url.hasPrefix("https://accounts.spotify.com/authorize?"))
            #expect(!url.contains("+"))
            #expect(
                fields == [
                    "client_id": "the-client", "response_type": "code", "redirect_uri": "http://127.0.0.1:1/callback",
                    "code_challenge_method": "S256", "code_challenge": verifier.challenge, "state": "a&b=c+d e",
                    "scope": SpotifyAccounts.scopes.joined(separator: " "), "show_dialog": "true",
                ])
        }
    }

    @Test("A code is exchanged in a form without a client secret")
    func exchange() async throws {
        let body = #"{"access_token":"a","token_type":"Bearer","scope":"s","expires_in":60,"refresh_token":"r"}"#
        try await ScriptedSpotify.with(.init(body: body)) { server, client, host in
            let grant = try await accounts(client, host).exchange(
                code: "c&d", verifier: verifier, redirectURI: "http://127.0.0.1:1/")
            #expect(grant.accessToken == "a")
            #expect(grant.refreshToken == "r")
            #expect(grant.lifetime == .seconds(60))
            let request = try #require(server.received.first)
            #expect(request.line == "POST /api/token")
            #expect(request.authorization == nil)
            #expect(
                request.body
                    == "client_id=the-client&grant_type=authorization_code&code=c%26d"
                    + "&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2F&code_verifier=\(verifier.value)")
        }
    }

    @Test(
        "Permanent, faulty and temporary refusals are distinguished",
        arguments: [
            (
                ScriptedSpotify.Answer(
                    status: 400, body: #"{"error":"invalid_grant","error_description":"Refresh token revoked"}"#),
                AuthorizationFailure.grantRefused("Refresh token revoked")
            ),
            (
                .init(status: 400, body: #"{"error":"invalid_client","error_description":"Invalid client"}"#),
                .requestRefused("Invalid client")
            ),
            (.init(status: 404, body: "<html>"), .requestRefused("status 404")),
            (
                .init(
                    status: 403, headers: ["Content-Type": "text/plain"],
                    body: "The client is\nblocked; see /etc/x for refresh-secret"),
                .requestRefused("The client is blocked; see … for …")
            ),
            // For Swift, the token's last letter and the mark are one Character.
            (
                .init(status: 403, headers: ["Content-Type": "text/plain"], body: "no refresh-secret\u{301} here"),
                .requestRefused("no …\u{301} here")
            ),
            (.init(status: 403, headers: ["Content-Type": "text/plain"], body: " "), .requestRefused("status 403")),
            (.init(status: 503), .unavailable("the server answered with status 503")),
            (
                .init(status: 302, headers: ["Location": "https://elsewhere.example/"]),
                .unavailable("the server answered with status 302")
            ),
            (.init(status: 200, body: "nonsense"), .unavailable("the answer cannot be read")),
            (.init(status: 429, headers: ["Retry-After": "60"]), .rateLimited(retryAfter: .seconds(60))),
        ])
    func failures(answer: ScriptedSpotify.Answer, failure: AuthorizationFailure) async throws {
        try await ScriptedSpotify.with(answer) { server, client, host in
            await #expect(throws: failure) { try await accounts(client, host).refresh("refresh-secret") }
            #expect(server.received.count == 1)
        }
    }

    @Test("A refresh token in a server's error is not shown")
    func echo() async throws {
        let token = String(repeating: "AQDsecret", count: 12)
        let body = #"{"error":"invalid_grant","error_description":"Bad token \#(token) \u001b[31m\nreally"}"#
        try await ScriptedSpotify.with(.init(status: 400, body: body)) { _, client, host in
            await #expect(throws: AuthorizationFailure.grantRefused("Bad token … … really")) {
                try await accounts(client, host).refresh(token)
            }
        }
    }

    @Test("A server that is away is reported without any content of the request")
    func noServer() async throws {
        var gone: BaseURL?
        try await ScriptedSpotify.with { _, _, host in gone = host }
        let host = try #require(gone)
        try await HTTPClient.with { client in
            let error = await #expect(throws: AuthorizationFailure.self) {
                try await accounts(client, host).refresh("refresh-secret")
            }
            guard case .unavailable(let reason) = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(!reason.contains("secret"))
        }
    }

    @Test(
        "A token that cannot be sent in a header makes the answer unusable",
        arguments: [
            #"{"access_token":"","refresh_token":"r"}"#, #"{"access_token":"a b","refresh_token":"r"}"#,
            #"{"access_token":"a\r\nX-Injected: 1","refresh_token":"r"}"#,
            #"{"access_token":"\u00e4","refresh_token":"r"}"#, #"{"access_token":"====","refresh_token":"r"}"#,
            #"{"access_token":"a=b","refresh_token":"r"}"#, #"{"access_token":null,"refresh_token":"r"}"#,
            #"{"access_token":"a","refresh_token":"r\u0000"}"#, #"{"access_token":"a","token_type":"mac"}"#,
        ])
    func unusableTokens(body: String) async throws {
        try await ScriptedSpotify.with(.init(body: body)) { _, client, host in
            let error = await #expect(throws: AuthorizationFailure.self) {
                try await accounts(client, host).refresh("refresh-secret")
            }
            guard case .unavailable = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
        }
    }

    @Test(
        "Minor fields in other forms do not fail the log-in",
        arguments: [
            (#""expires_in":"3600""#, 3600), (#""expires_in":3599.7"#, 3599), (#""expires_in":null"#, 3600),
            (#""expires_in":-5"#, 0), (#""expires_in":1e300"#, 366 * 86400), (#""expires_in":"soon""#, 3600),
            (#""expires_in":"nan""#, 3600), (#""expires_in":60,"scope":["a"]"#, 60),
            (#""expires_in":60,"token_type":"bearer""#, 60),
        ])
    func minorFields(fields: String, seconds: Int) async throws {
        let body = #"{"access_token":"aZ9-._~+/==","refresh_token":"r",\#(fields)}"#
        try await ScriptedSpotify.with(.init(body: body)) { _, client, host in
            let grant = try await accounts(client, host).refresh("refresh-secret")
            #expect(grant.accessToken == "aZ9-._~+/==")
            #expect(grant.lifetime == .seconds(seconds))
        }
    }

    @Test(
        "An empty refresh token counts as missing, so that it replaces no valid one", arguments: [#""""#, "null", "7"])
    func emptyRefreshToken(value: String) async throws {
        let body = #"{"access_token":"a","expires_in":60,"refresh_token":\#(value)}"#
        try await ScriptedSpotify.with(.init(body: body)) { _, client, host in
            let grant = try await accounts(client, host).refresh("refresh-secret")
            #expect(grant.refreshToken == nil)
        }
    }

    @Test(
        "A refusal is understood if its description is missing or not a text",
        arguments: ["", #","error_description":null"#, #","error_description":7"#, #","error_description":"""#])
    func undescribed(description: String) async throws {
        let body = #"{"error":"invalid_grant"\#(description)}"#
        try await ScriptedSpotify.with(.init(status: 400, body: body)) { _, client, host in
            await #expect(throws: AuthorizationFailure.grantRefused("invalid_grant")) {
                try await accounts(client, host).refresh("refresh-secret")
            }
        }
    }

    @Test("A short token in a server's error is not shown")
    func shortEcho() async throws {
        let body = #"{"error":"invalid_grant","error_description":"Unknown token 'abc.def'"}"#
        try await ScriptedSpotify.with(.init(status: 400, body: body)) { _, client, host in
            await #expect(throws: AuthorizationFailure.grantRefused("Unknown token '…'")) {
                try await accounts(client, host).refresh("abc.def")
            }
        }
    }

    @Test("A server that never ends its answer is given up after the time limit", .timeLimit(.minutes(1)))
    func endless() async throws {
        try await FaultySpotify.with(.endlessBody) { server, client, host in
            let accounts = SpotifyAccounts(
                clientID: "c", client: client, host: host, policy: .impatient, timeLimit: .milliseconds(200))
            await #expect(throws: AuthorizationFailure.unavailable("no answer in time")) {
                try await accounts.refresh("refresh-secret")
            }
            #expect(server.requests == 1)
        }
    }

    @Test("The time limit covers all attempts and the pauses between them", .timeLimit(.minutes(1)))
    func attempts() async throws {
        try await ScriptedSpotify.with(.init(status: 429, headers: ["Retry-After": "1"])) { server, client, host in
            let patient = RateLimitPolicy(longestWait: .seconds(5), attempts: 1_000_000, sleep: { _ in })
            let accounts = SpotifyAccounts(
                clientID: "c", client: client, host: host, policy: patient, timeLimit: .milliseconds(200))
            await #expect(throws: AuthorizationFailure.self) { try await accounts.refresh("refresh-secret") }
        }
    }

    @Test("A request for tokens is not sent again when the server closes the connection without an answer")
    func closed() async throws {
        try await FaultySpotify.with(.closesAfterFirst) { server, client, host in
            let accounts = self.accounts(client, host)
            let grant = try await accounts.refresh("refresh-secret")
            #expect(grant.accessToken == "a")
            let error = await #expect(throws: AuthorizationFailure.self) {
                try await accounts.refresh("refresh-secret")
            }
            guard case .unavailable = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(server.requests == 2)
        }
    }
}
