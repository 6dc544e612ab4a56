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

    @Test("The URL asks for a code with PKCE, every value escaped so that it comes back as it was")
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

    @Test("A code is traded by a form post without a client secret")
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
        "Each refusal is told apart: what never works, what the app did wrong, what may pass",
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

    @Test("A server that sends the refresh token back in its error does not get it shown")
    func echo() async throws {
        let token = String(repeating: "AQDsecret", count: 12)
        let body = #"{"error":"invalid_grant","error_description":"Bad token \#(token) \u001b[31m\nreally"}"#
        try await ScriptedSpotify.with(.init(status: 400, body: body)) { _, client, host in
            await #expect(throws: AuthorizationFailure.grantRefused("Bad token … … really")) {
                try await accounts(client, host).refresh(token)
            }
        }
    }

    @Test("A server that is not there is told in words that hold nothing of the request")
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
}
