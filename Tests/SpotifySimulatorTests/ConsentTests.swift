import HTTPTypes
import Testing

@testable import SpotifySimulator

@Suite("Consent")
struct ConsentTests {
    @Test("A consent leads from the page and its form to the redirect, the code, a token and a call")
    func story() async throws {
        try await withSimulator { spotify in
            let page = try await spotify.authorize()
            #expect(page.status == 200)
            #expect(page.headers[.contentType]?.hasPrefix("text/html") == true)

            let form = Self.fields(ofForm: page.text)
            let redirect = try await spotify.post("/authorize", form)
            #expect(redirect.status == 302)
            #expect(redirect.headers[.location]?.hasPrefix(SpotifyClient.redirectURI + "?") == true)
            #expect(redirect.redirectQuery["state"] == "a state&more")

            let tokens: Tokens = try await spotify.trade(redirect.redirectQuery["code"] ?? "").decoded()
            #expect(tokens.tokenType == "Bearer")
            #expect(tokens.expiresIn == 3600)
            #expect(Set(tokens.scope.split(separator: " ")) == Set(SpotifyClient.scopes.split(separator: " ")))
            #expect(tokens.refreshToken != nil)
            #expect(try await spotify.get("/v1/me", token: tokens.accessToken).status == 200)
        }
    }

    @Test("A denial returns the error and the state, without a code")
    func denied() async throws {
        try await withSimulator { spotify in
            let redirect = try await spotify.decide("deny")
            #expect(redirect.status == 302)
            #expect(redirect.redirectQuery == ["error": "access_denied", "state": "a state&more"])
        }
    }

    @Test(
        "A bad request is reported to the user without a redirect",
        arguments: [
            ("client_id", "stranger", "INVALID_CLIENT: Invalid client"),
            ("client_id", nil, "INVALID_CLIENT: Invalid client"),
            ("redirect_uri", nil, "INVALID_CLIENT: Invalid redirect URI"),
            ("redirect_uri", "http://localhost:49152/callback", "INVALID_CLIENT: Invalid redirect URI"),
            ("redirect_uri", "http://example.com/callback", "INVALID_CLIENT: Invalid redirect URI"),
            ("redirect_uri", "http://127.0.0.1:49152/elsewhere", "INVALID_CLIENT: Invalid redirect URI"),
            ("response_type", "token", "response_type must be code"),
            ("code_challenge_method", "plain", "code_challenge_method must be S256"),
            ("code_challenge", "short", "code_challenge must be the base64url form of a SHA-256 digest"),
            ("scope", "playlist-read-private everything", "INVALID_SCOPE: Invalid scope"),
        ] as [(String, String?, String)]
    )
    func refused(name: String, value: String?, message: String) async throws {
        try await withSimulator { spotify in
            for answer in [
                try await spotify.authorize([name: value]), try await spotify.decide("approve", [name: value]),
            ] {
                #expect(answer.status == 400)
                #expect(answer.text == message + "\n")
                #expect(answer.headers[.location] == nil)
            }
        }
    }

    @Test("Loopback redirect URIs can have any port, with IPv6 too")
    func loopback() async throws {
        try await withSimulator { spotify in
            for uri in ["http://127.0.0.1:1/callback", "http://127.0.0.1/callback", "http://[::1]:65535/callback"] {
                let redirect = try await spotify.decide("approve", ["redirect_uri": uri])
                #expect(redirect.headers[.location]?.hasPrefix(uri + "?code=") == true)
            }
        }
    }

    /// In the second state, a combining mark after each sign makes one Character of both.
    @Test(
        "A client's text cannot change the page",
        arguments: [#""><script>alert(1)</script>"#, "\"\u{301}>\u{301}<\u{301}script>alert(1)</script>"])
    func escaping(state: String) async throws {
        try await withSimulator { spotify in
            let page = try await spotify.authorize(["state": state])
            #expect(page.status == 200)
            #expect(!page.text.contains("script>"))
            #expect(Self.fields(ofForm: page.text)["state"].map { Array($0.utf8) } == Array(state.utf8))
        }
    }

    /// The fields that a browser sends when the first button is pressed.
    private static func fields(ofForm html: String) -> [String: String] {
        var fields: [String: String] = [:]
        let form = /name="([^"]*)" value="([^"]*)"/.matchingSemantics(.unicodeScalar)
        for match in html.matches(of: form) where fields[String(match.1)] == nil {
            let named = /&(lt|gt|quot|amp);/.matchingSemantics(.unicodeScalar)
            let signs: [Substring: String] = ["lt": "<", "gt": ">", "quot": "\"", "amp": "&"]
            fields[String(match.1)] = String(match.2).replacing(named) { signs[$0.1] ?? "" }
        }
        return fields
    }
}
