package import Foundation

/// Where the tokens are kept. It counts: each change makes a new generation, so that "the token of generation 3 was
/// refused" means the same to every process, and never needs the token itself.
package protocol TokenStore: Sendable {
    /// What is kept now. Generation 0 without tokens if nothing ever was.
    func load() async throws -> StoredTokens

    /// Keeps `tokens` under the next generation. Returns only when they survive a crash.
    @discardableResult
    func save(_ tokens: SpotifyTokens) async throws -> StoredTokens

    /// Forgets the tokens, under the next generation.
    @discardableResult
    func clear() async throws -> StoredTokens
}

/// What a ``TokenStore`` keeps.
package struct StoredTokens: Codable, Hashable, Sendable {
    /// Grows with each change, forgetting included.
    package let generation: Int
    /// nil if there are none, or none any more.
    package let tokens: SpotifyTokens?

    package init(generation: Int, tokens: SpotifyTokens?) {
        self.generation = generation
        self.tokens = tokens
    }

    /// Before anything was kept.
    package static let none = StoredTokens(generation: 0, tokens: nil)

    /// What follows this.
    package func followed(by tokens: SpotifyTokens?) -> StoredTokens {
        StoredTokens(generation: generation + 1, tokens: tokens)
    }
}

/// What lets the app act for a Spotify account. Its description never shows it.
package struct SpotifyTokens: Codable, Hashable, Sendable {
    package let accessToken: String
    package let refreshToken: String
    /// The scopes that were granted, separated by spaces.
    package let scope: String
    /// When Spotify will stop taking the access token, by this machine's clock.
    package let expiresAt: Date

    package init(accessToken: String, refreshToken: String, scope: String, expiresAt: Date) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.scope = scope
        self.expiresAt = expiresAt
    }
}

extension SpotifyTokens: CustomStringConvertible, CustomReflectable {
    package var description: String { "SpotifyTokens(redacted, expires \(expiresAt))" }
    package var customMirror: Mirror { Mirror(self, children: ["expiresAt": expiresAt]) }
}

/// Why tokens, or requests for consent, could not be kept or read. Never holds any.
package struct TokenStoreError: Error, Hashable, Sendable {
    /// Stable, dotted: `vault.corrupt`.
    package let code: String
    /// One line: what is wrong, and with which file.
    package let message: String
    /// One line: what to do about it.
    package let recovery: String

    package init(code: String, message: String, recovery: String) {
        self.code = code
        self.message = message
        self.recovery = recovery
    }
}

extension TokenStoreError: CustomStringConvertible {
    package var description: String { "\(message). \(recovery)" }
}
