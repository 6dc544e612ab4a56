package import Foundation

/// Stores the tokens of each session and counts their changes: each change makes a new generation.
package protocol TokenStore: Sendable {
    /// Returns the stored tokens of a session. Returns ``StoredTokens/none`` if nothing was ever stored.
    func load(of session: String) async throws -> StoredTokens

    /// Stores `tokens` with the session's next generation. Returns after they are safe from a crash.
    /// - Throws: `TokenStoreError`, also if the store is full.
    @discardableResult
    func save(_ tokens: SpotifyTokens, of session: String) async throws -> StoredTokens

    /// Removes the tokens of a session. The removal has the next generation.
    @discardableResult
    func clear(_ session: String) async throws -> StoredTokens

    /// Checks that an account of this session can be stored.
    /// - Throws: `TokenStoreError` if the store is full.
    func checkRoom(for session: String) async throws
}

/// The content of a ``TokenStore`` for one session.
package struct StoredTokens: Codable, Hashable, Sendable {
    /// The number of changes. It grows by one with each change, including removal.
    package let generation: Int
    /// Nil if no account is connected.
    package let tokens: SpotifyTokens?

    package init(generation: Int, tokens: SpotifyTokens?) {
        self.generation = generation
        self.tokens = tokens
    }

    /// The content before anything was stored.
    package static let none = StoredTokens(generation: 0, tokens: nil)

    /// The content after the next change.
    package func followed(by tokens: SpotifyTokens?) -> StoredTokens {
        StoredTokens(generation: generation + 1, tokens: tokens)
    }
}

/// The tokens with which the app acts for a Spotify account. The description does not contain the tokens.
package struct SpotifyTokens: Codable, Hashable, Sendable {
    package let accessToken: String
    package let refreshToken: String
    /// The granted scopes, separated by spaces.
    package let scope: String
    /// The time at which Spotify stops accepting the access token, by this machine's clock.
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

/// An error of storing or reading tokens or requests for consent. The error contains no tokens and no states.
package struct TokenStoreError: Error, Hashable, Sendable {
    /// A stable name with dots, for example `vault.corrupt`.
    package let code: String
    /// The problem, in one line with the file.
    package let message: String
    /// The remedy, in one line.
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
