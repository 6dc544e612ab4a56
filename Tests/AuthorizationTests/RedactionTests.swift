import Authorization
import Foundation
import Testing

@Suite("Secrets in descriptions")
struct RedactionTests {
    @Test("No description or reflection shows a secret")
    func printing() {
        let verifier = CodeVerifier()
        let secrets = ["access-1", "refresh-1", "access-2", "refresh-2", verifier.value, "the-state", "the-code"]
        let values: [Any] = [
            SpotifyTokens.fixture, StoredTokens.fixture, TokenGrant.fixture(), verifier,
            PendingAuthorization(
                state: "the-state", verifier: verifier, redirectURI: "http://127.0.0.1:1/", cause: .request(),
                requestedAt: Date(timeIntervalSince1970: 0)),
            AuthorizationCallback(answer: .approved(code: "the-code"), state: "the-state"),
        ]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), String(describing: [value]), dumped] {
                for secret in secrets {
                    #expect(!text.contains(secret))
                }
            }
        }
    }
}
