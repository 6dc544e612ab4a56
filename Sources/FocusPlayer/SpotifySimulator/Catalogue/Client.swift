/// An application registered with the simulated Spotify.
struct Client: Sendable, Equatable {
    /// What the application sends as `client_id`.
    var id: String
    /// Where consent may redirect to. Empty: to any address that Spotify would let anyone register.
    var redirectURIs: [RedirectURI]

    /// Whether consent for this client may end at the given address.
    func admits(_ redirectURI: RedirectURI) -> Bool {
        redirectURIs.isEmpty || redirectURIs.contains { $0.covers(redirectURI) }
    }
}
