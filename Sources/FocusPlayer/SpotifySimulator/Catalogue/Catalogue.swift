/// Everything the simulated Spotify knows before anyone talks to it: one account and what it may see.
package struct Catalogue: Sendable, Equatable {
    /// The person who approves consent and owns the tokens.
    var user: User
    /// The applications that may ask for consent.
    var clients: [Client]
    /// The Spotify Connect devices of the user, in the order in which they are listed; at most one is active.
    var devices: [Device]
    /// The playlists that the user owns or follows, in the order in which they are listed.
    var playlists: [Playlist]
}
