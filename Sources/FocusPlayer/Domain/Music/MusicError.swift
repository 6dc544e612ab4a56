internal import Contracts

/// Why Spotify did not do what was asked.
package enum MusicError: Error, Hashable {
    /// No account is connected.
    case notAuthorized
    /// The account was connected when the work began and is not any more; who ended it tells why.
    case authorizationEnded
    /// A refused token was not replaced in time.
    case renewalOverdue
    /// The kept access cannot be read; the text names the file.
    case accessUnreadable(String)
    /// The token of this generation was refused, though it was new.
    case unauthorized(generation: Int)
    /// Only Spotify Premium may do this.
    case premiumRequired
    case noActiveDevice
    /// What was asked for does not exist; the text names it.
    case notFound(String)
    /// The account may not do this, for the reason given.
    case forbidden(String)
    /// Too many requests; worth trying again after this long, if Spotify said.
    case rateLimited(retryAfter: Duration?)
    /// No answer, or none that can be read. Worth trying again.
    case unavailable(String)

    /// What a person reads; nil if somebody else tells it.
    var applicationError: ApplicationError? {
        switch self {
        case .authorizationEnded:
            nil
        case .notAuthorized:
            error("spotify.not-connected", "Spotify is not connected", "Connect Spotify first.")
        case .renewalOverdue:
            error("spotify.renewal-overdue", "The access to Spotify was not renewed in time", "Try again in a moment.")
        case .accessUnreadable(let reason):
            error("spotify.access-unreadable", "The access to Spotify cannot be read: \(reason)", nil)
        case .unauthorized:
            error("spotify.unauthorized", "Spotify refuses even renewed access", "Connect Spotify again.")
        case .premiumRequired:
            error("spotify.premium-required", "This needs Spotify Premium", "Open the playlist in Spotify instead.")
        case .noActiveDevice:
            error("spotify.no-active-device", "No Spotify device is active", "Open Spotify on a device.")
        case .notFound(let what):
            error("spotify.not-found", "Spotify does not know \(what)", "Choose another one.")
        case .forbidden(let reason):
            error("spotify.forbidden", "Spotify does not allow this: \(reason)", nil)
        case .rateLimited(let retryAfter?):
            error(
                "spotify.rate-limited", "Spotify asks to wait \(retryAfter.components.seconds) seconds",
                "Try again then.")
        case .rateLimited(nil):
            error("spotify.rate-limited", "Spotify asks to wait", "Try again in a moment.")
        case .unavailable(let reason):
            error("spotify.unavailable", "Spotify could not be reached: \(reason)", "Try again in a moment.")
        }
    }

    private func error(_ code: String, _ message: String, _ recovery: String?) -> ApplicationError {
        ApplicationError(code: code, message: message, recovery: recovery)
    }
}
