package import SpotifyAPI

extension SpotifyHosts {
    /// Both of Spotify's hosts at one address.
    package static func all(at base: String) -> SpotifyHosts {
        guard let url = BaseURL(base) else { preconditionFailure("the test's own server has no base URL") }
        return SpotifyHosts(accounts: url, api: url)
    }
}

extension RateLimitPolicy {
    /// Does not really wait.
    package static let impatient = RateLimitPolicy(longestWait: .seconds(5), attempts: 3, sleep: { _ in })
}
