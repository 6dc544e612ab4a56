package import Vocabulary

/// The music that an account knows, at its source.
package protocol MusicCatalog: Sendable {
    /// The id of the connected account.
    /// - Throws: ``MusicError``, as all of these.
    func account() async throws -> String

    /// All of the account's playlists, in its order.
    func playlists() async throws -> [Playlist]

    /// All songs of a playlist, in its order.
    /// - Throws: ``MusicError/notFound(_:)`` if there is no such playlist.
    func songs(of playlistID: Playlist.ID) async throws -> [Song]
}

/// Where calls to Spotify get their token from. Another process renews it.
package protocol AccessTokens: Sendable {
    /// The newest token there is, refused or not.
    /// - Throws: ``MusicError/notAuthorized`` if no account is connected.
    func current() async throws -> AccessToken

    /// Says that the token of `generation` was refused, and waits for the next one.
    /// - Throws: ``MusicError/authorizationEnded`` if there will be none, ``MusicError/renewalOverdue`` at the deadline.
    func newer(thanRefused generation: Int) async throws -> AccessToken
}

/// What a call to Spotify shows to be let in. Its description never shows it.
package struct AccessToken: Hashable, Sendable {
    package let value: String
    /// Which token: a refused one is named by its generation, never by itself.
    package let generation: Int

    package init(value: String, generation: Int) {
        self.value = value
        self.generation = generation
    }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    package var description: String { "AccessToken(redacted, generation \(generation))" }
    package var customMirror: Mirror { Mirror(self, children: ["generation": generation]) }
}
