package import Foundation
package import Support

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

    /// Counts a failed renewal of a session's tokens. The generation stays the same.
    @discardableResult
    func recordFailedRenewal(of session: String, at date: Date) async throws -> StoredTokens

    /// Checks that an account of this session can be stored.
    /// - Throws: `TokenStoreError` if the store is full.
    func checkRoom(for session: String) async throws
}

/// The content of a ``TokenStore`` for one session.
package struct StoredTokens: Codable, Hashable, Sendable {
    /// The number of changes. It grows by one with each change, including removal.
    @BoundedCount package private(set) var generation: Int
    /// Nil if no account is connected.
    package let tokens: SpotifyTokens?
    /// Nil if no renewal of these tokens has failed.
    private let renewalFailures: RenewalFailures?

    package init(generation: Int, tokens: SpotifyTokens?) {
        self.init(generation: generation, tokens: tokens, renewalFailures: nil)
    }

    private init(generation: Int, tokens: SpotifyTokens?, renewalFailures: RenewalFailures?) {
        self.generation = generation
        self.tokens = tokens
        self.renewalFailures = renewalFailures
    }

    /// The content before anything was stored.
    package static let none = StoredTokens(generation: 0, tokens: nil)

    /// The content after the next change.
    package func followed(by tokens: SpotifyTokens?) -> StoredTokens {
        StoredTokens(generation: generation + 1, tokens: tokens)
    }

    /// The content after a renewal of the tokens has failed.
    package func followedByFailedRenewal(at date: Date) -> StoredTokens {
        StoredTokens(
            generation: generation, tokens: tokens,
            renewalFailures: RenewalFailures(count: failedRenewals + 1, last: date))
    }

    /// The number of times that the renewal of these tokens has failed. A process that waits for newer tokens can stop
    /// when this number changes.
    package var failedRenewals: Int { renewalFailures?.count ?? 0 }

    /// True if the last failed renewal also answers a request that was made at `date`: the renewal ended after it.
    func hasFailedRenewal(since date: Date, at now: Date) -> Bool {
        guard let failure = renewalFailures?.last else { return false }
        // A failure that is not recent shows that the clock was set.
        return date <= failure && abs(now.timeIntervalSince(failure)) < 60
    }
}

/// The failed renewals of one generation of tokens.
private struct RenewalFailures: Codable, Hashable, Sendable {
    @BoundedCount private(set) var count: Int
    /// The time at which the last renewal failed.
    let last: Date
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
    /// True if ``message`` or ``recovery`` contain the path of a file. They are then for a log, not for a person.
    package let namesFile: Bool

    package init(code: String, message: String, recovery: String, namesFile: Bool = false) {
        self.code = code
        self.message = message
        self.recovery = recovery
        self.namesFile = namesFile
    }
}

extension TokenStoreError: CustomStringConvertible {
    package var description: String { "\(message). \(recovery)" }
}
