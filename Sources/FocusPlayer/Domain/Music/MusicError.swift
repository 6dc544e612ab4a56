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
}
