internal import Contracts

/// The reason why an operation with Spotify failed.
package enum MusicError: Error, Hashable {
    /// No account is connected.
    case notAuthorized
    /// The account was disconnected during the operation.
    case authorizationEnded
    /// The renewal of a refused token failed.
    case renewalFailed
    /// A refused token was not replaced in time.
    case renewalOverdue
    /// The stored token cannot be read. The value is the reason, with the file. It is for a log, not for a person.
    case accessUnreadable(String)
    /// Spotify refused the access token, and then also the newer one.
    case unauthorized(generation: Int)
    /// The operation needs Spotify Premium.
    case premiumRequired
    case noActiveDevice
    /// The requested object does not exist. The value describes it.
    case notFound(String)
    /// Spotify refused the request, for example because the account may not do this. The value is the reason.
    case forbidden(String)
    /// Too many requests. The value is the time after which the request may be repeated; nil if Spotify gave none.
    case rateLimited(retryAfter: Duration?)
    /// A list has more entries than the maximum. The first value describes the list.
    case tooLong(String, limit: Int)
    /// Spotify did not answer, or its answer is unusable. The request may be repeated. The value is the reason.
    case unavailable(String)

    /// The error to show to a person. Nil if another process publishes the error.
    var applicationError: ApplicationError? {
        switch self {
        case .authorizationEnded, .renewalFailed:
            nil
        case .notAuthorized:
            error("spotify.not-connected", "Spotify is not connected", "Connect Spotify first.")
        case .renewalOverdue:
            error("spotify.renewal-overdue", "The access to Spotify was not renewed in time", "Try again in a moment.")
        case .accessUnreadable:
            error(
                "spotify.access-unreadable", "The access to Spotify cannot be read",
                "See the log of music-service, or connect Spotify again.")
        case .unauthorized:
            error("spotify.unauthorized", "Spotify refuses access even after it was renewed", "Connect Spotify again.")
        case .premiumRequired:
            error("spotify.premium-required", "This needs Spotify Premium", "Open the playlist in Spotify instead.")
        case .noActiveDevice:
            error("spotify.no-active-device", "No Spotify device is active", "Open Spotify on a device.")
        case .notFound(let what):
            error("spotify.not-found", "Spotify did not find \(what)", "Choose another one.")
        case .forbidden(let reason):
            error("spotify.forbidden", "Spotify does not allow this: \(reason)", nil)
        case .rateLimited(let retryAfter?):
            error(
                "spotify.rate-limited", "Spotify asks to wait \(retryAfter.components.seconds) seconds",
                "Try again then.")
        case .rateLimited(nil):
            error("spotify.rate-limited", "Spotify asks to wait", "Try again in a moment.")
        case .tooLong(let what, let limit):
            error(
                "spotify.too-long", "Spotify has more than \(limit) entries in \(what), which are too many",
                "Choose a shorter one.")
        case .unavailable(let reason):
            error("spotify.unavailable", "Spotify gave no usable answer: \(reason)", "Try again in a moment.")
        }
    }

    private func error(_ code: String, _ message: String, _ recovery: String?) -> ApplicationError {
        ApplicationError(code: code, message: message, recovery: recovery)
    }
}
