/// Where Spotify is: the real hosts, or a stand-in for them.
package struct SpotifyHosts: Hashable, Sendable {
    /// Gives consent and tokens.
    package let accounts: BaseURL
    /// Serves the Web API, whose version prefix is not part of this.
    package let api: BaseURL

    package init(accounts: BaseURL = .spotifyAccounts, api: BaseURL = .spotifyAPI) {
        self.accounts = accounts
        self.api = api
    }
}
