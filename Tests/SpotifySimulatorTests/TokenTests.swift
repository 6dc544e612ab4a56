import Foundation
import HTTPTypes
import SpotifyTestSupport
import Testing

@testable import SpotifySimulator

@Suite("Tokens")
struct TokenTests {
    @Test("A code can be used once")
    func codeTwice() async throws {
        try await withSimulator { spotify in
            let code = try await spotify.code()
            #expect(try await spotify.trade(code).status == 200)
            #expect(try await spotify.trade(code).tokenError == "400 | invalid_grant | Invalid authorization code")
        }
    }

    @Test("A wrong verifier uses up the code")
    func wrongVerifier() async throws {
        try await withSimulator { spotify in
            let code = try await spotify.code()
            let wrong = String(repeating: "x", count: 43)
            let refused = try await spotify.trade(code, ["code_verifier": wrong])
            #expect(try refused.tokenError == "400 | invalid_grant | code_verifier was incorrect")
            #expect(try await spotify.trade(code).tokenError == "400 | invalid_grant | Invalid authorization code")
            #expect(try await spotify.controlState().tokens.issued == 0)
        }
    }

    @Test("A code belongs to its redirect URI")
    func otherRedirectURI() async throws {
        try await withSimulator { spotify in
            let uri = "http://127.0.0.1:49153/callback"
            let refused = try await spotify.trade(try await spotify.code(), ["redirect_uri": uri])
            #expect(try refused.tokenError == "400 | invalid_grant | Invalid redirect URI")
        }
    }

    @Test("A code is valid for ten minutes")
    func oldCode() async throws {
        let clock = ManualClock()
        try await withSimulator(clock: clock) { spotify in
            let code = try await spotify.code()
            clock.advance(by: 600)
            #expect(try await spotify.trade(code).tokenError == "400 | invalid_grant | Invalid authorization code")
        }
    }

    @Test(
        "A malformed token request is refused",
        arguments: [
            ("grant_type", "password", "unsupported_grant_type"), ("grant_type", nil, "unsupported_grant_type"),
            ("client_id", "stranger", "invalid_client"), ("client_id", nil, "invalid_request"),
            ("code_verifier", nil, "invalid_request"), ("redirect_uri", nil, "invalid_request"),
            ("code", nil, "invalid_request"),
        ] as [(String, String?, String)]
    )
    func malformed(name: String, value: String?, error: String) async throws {
        try await withSimulator { spotify in
            let answer = try await spotify.trade("some-code", [name: value])
            #expect(try answer.tokenError.hasPrefix("400 | \(error) | "))
        }
    }

    @Test("A token request must be a form, and names each parameter once")
    func notAForm() async throws {
        try await withSimulator { spotify in
            for (type, body) in [
                ("application/json", #"{"grant_type":"refresh_token"}"#),
                ("application/x-www-form-urlencoded", "grant_type=refresh_token&grant_type=refresh_token"),
            ] {
                let answer = try await spotify.send(.post, "/api/token", [.contentType: type], body)
                #expect(try answer.tokenError.hasPrefix("400 | invalid_request | "))
            }
        }
    }

    @Test("An access token expires at the announced time")
    func expiry() async throws {
        let clock = ManualClock()
        try await withSimulator(TokenPolicy(accessTokenLifetime: .seconds(30)), clock: clock) { spotify in
            let tokens = try await spotify.signIn()
            #expect(tokens.expiresIn == 30)
            clock.advance(by: 29)
            #expect(try await spotify.get("/v1/me", token: tokens.accessToken).status == 200)
            clock.advance(by: 1)
            let answer = try await spotify.get("/v1/me", token: tokens.accessToken)
            #expect(try answer.webAPIError == "401 | The access token expired")

            let fresh: Tokens = try await spotify.refresh(tokens.refreshToken).decoded()
            #expect(try await spotify.get("/v1/me", token: fresh.accessToken).status == 200)
        }
    }

    @Test(
        "A refresh gives a new refresh token as the policy says",
        arguments: [
            (.never, [false, false, false, false]), (.alternate, [false, true, false, true]),
            (.always, [true, true, true, true]),
        ] as [(TokenPolicy.Rotation, [Bool])]
    )
    func rotation(rotation: TokenPolicy.Rotation, expected: [Bool]) async throws {
        try await withSimulator(TokenPolicy(rotation: rotation)) { spotify in
            var current = try await spotify.signIn().refreshToken
            for rotates in expected {
                let previous = current
                let tokens: Tokens = try await spotify.refresh(previous).decoded()
                #expect((tokens.refreshToken != nil) == rotates)
                current = tokens.refreshToken ?? previous
                guard rotates else { continue }
                let refused = try await spotify.refresh(previous)
                #expect(try refused.tokenError == "400 | invalid_grant | Refresh token revoked")
            }
            #expect(try await spotify.controlState().tokens.refreshes == expected.count)
        }
    }

    @Test("A refresh token expires six months after the approval, rotated or not")
    func sixMonths() async throws {
        let clock = ManualClock()
        try await withSimulator(TokenPolicy(rotation: .always), clock: clock) { spotify in
            let first = try await spotify.signIn()
            clock.advance(by: 170 * 86_400)
            let second: Tokens = try await spotify.refresh(first.refreshToken).decoded()
            clock.advance(by: 20 * 86_400)
            let refused = try await spotify.refresh(second.refreshToken)
            #expect(try refused.tokenError == "400 | invalid_grant | Refresh token expired")
        }
    }

    @Test("An unknown refresh token is refused, and so is one of another client")
    func unknownRefreshToken() async throws {
        try await withSimulator { spotify in
            let refused = try await spotify.refresh("nonsense")
            #expect(try refused.tokenError == "400 | invalid_grant | Invalid refresh token")
            let token = try await spotify.signIn().refreshToken
            let stranger = try await spotify.refresh(token, clientID: "stranger")
            #expect(try stranger.tokenError == "400 | invalid_client | Invalid client")
        }
    }

    @Test("A refresh helps after a revocation of access tokens")
    func accessRevoked() async throws {
        try await withSimulator { spotify in
            let tokens = try await spotify.signIn()
            _ = try await spotify.control("revoke", ["tokens": "access"])
            let answer = try await spotify.get("/v1/me", token: tokens.accessToken)
            #expect(try answer.webAPIError == "401 | Invalid access token")
            #expect(try await spotify.refresh(tokens.refreshToken).status == 200)
        }
    }

    @Test("A revocation of all tokens needs a new consent")
    func allRevoked() async throws {
        try await withSimulator { spotify in
            let tokens = try await spotify.signIn()
            _ = try await spotify.control("revoke", ["tokens": "all"])
            #expect(try await spotify.get("/v1/me", token: tokens.accessToken).status == 401)
            let refused = try await spotify.refresh(tokens.refreshToken)
            #expect(try refused.tokenError == "400 | invalid_grant | Refresh token revoked")
            #expect(try await spotify.get("/v1/me", token: try await spotify.signIn().accessToken).status == 200)
        }
    }

    @Test("No description shows a secret, and the state has none")
    func secrets() throws {
        let catalogue = try Catalogue(contentsOf: SimulatedSpotify.catalogue)
        var state = AuthorizationState()
        let request = try ConsentRequest(SpotifyClient.authorization(), clients: catalogue.clients)
        let code = state.approve(request, account: "segue", at: .now)
        #expect(!"\(code) \(String(reflecting: code)) \(state)".contains(code.value))

        let trade = TokenRequest.authorizationCode(
            clientID: SpotifyClient.clientID,
            code: code.value,
            redirectURI: SpotifyClient.redirectURI,
            verifier: SpotifyClient.verifier
        )
        let tokens = try state.tokens(for: trade, policy: TokenPolicy(), at: .now)
        var dumped = ""
        dump((trade, tokens, state, TokenResponse(tokens)), to: &dumped)
        #expect(!dumped.contains(code.value))
        #expect(!dumped.contains(tokens.accessToken.value))
        #expect(!dumped.contains(SpotifyClient.verifier))
    }
}
