/// Where calls to Spotify get their token from. Another process renews it.
package protocol AccessTokens: Sendable {
    /// The newest token there is, refused or not.
    /// - Throws: ``MusicError/notAuthorized`` if no account is connected.
    func current() async throws -> AccessToken

    /// Says that the token of `generation` was refused, and waits for the next one.
    /// - Throws: ``MusicError/authorizationEnded`` if there will be none, ``MusicError/renewalOverdue`` at the deadline.
    func newer(thanRefused generation: Int) async throws -> AccessToken
}
