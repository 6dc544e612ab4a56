internal import Support
package import Vocabulary

/// The music of an account at its provider.
package protocol MusicCatalog: Sendable {
    /// Returns the id of the connected account.
    /// - Throws: ``MusicError``, as the other methods do.
    func account() async throws -> String

    /// Returns all playlists of the account, in the provider's order.
    func playlists() async throws -> [Playlist]

    /// Returns all songs of a playlist, in its order.
    /// - Throws: ``MusicError/notFound(_:)`` if the playlist does not exist.
    func songs(of playlistID: Playlist.ID) async throws -> [Song]
}

/// The source of access tokens for calls to Spotify. Another process renews the tokens.
package protocol AccessTokens: Sendable {
    /// Returns the newest token, even if Spotify has refused it.
    /// - Throws: ``MusicError/notAuthorized`` if no account is connected, ``MusicError/accessUnreadable(_:)`` if the
    ///   stored token cannot be read.
    func current() async throws -> AccessToken

    /// Returns a newer token than the refused one of `generation`. If there is none yet, requests it and waits.
    /// - Throws: ``MusicError/authorizationEnded`` if the account was disconnected, ``MusicError/renewalFailed`` as soon
    ///   as the renewal has failed, ``MusicError/renewalOverdue`` if no newer token came in time,
    ///   ``MusicError/accessUnreadable(_:)`` if the stored token cannot be read.
    func newer(thanRefused generation: Int) async throws -> AccessToken
}

/// The secret that authorizes a call to Spotify. The description does not contain the secret.
package struct AccessToken: Hashable, Sendable {
    package let value: String
    /// The number of the token in the vault.
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

extension Song {
    /// True if the URI names a track: not an episode, a local file or another object. Spotify refuses a whole command
    /// to play if one of its URIs is not that of a track.
    package var isTrack: Bool {
        guard let id = uri.removing(prefix: "spotify:track:"), !id.isEmpty else { return false }
        return id.unicodeScalars.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
    }
}
