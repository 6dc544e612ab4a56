/// What makes one request for consent different from the next.
package struct AuthorizationRequest: Hashable, Sendable {
    /// Comes back with the answer, and proves that the answer belongs to this request (RFC 6749 §10.12).
    package let state: String
    /// Of the verifier, method `S256`.
    package let codeChallenge: String
    /// Where the answer is sent: a loopback URI of the listening process.
    package let redirectURI: String

    package init(state: String, codeChallenge: String, redirectURI: String) {
        self.state = state
        self.codeChallenge = codeChallenge
        self.redirectURI = redirectURI
    }
}
