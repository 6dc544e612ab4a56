internal import Contracts

/// Why the authorization server gave no tokens. Holds what the server said, never a code, a verifier or a token.
package enum AuthorizationFailure: Error, Hashable {
    /// The grant is no good and never will be (`invalid_grant`): code or verifier wrong, refresh token revoked or expired.
    case grantRefused(String)
    /// The request is one that this server will never accept: unknown client, redirect URI that is not registered.
    case requestRefused(String)
    /// Too many requests; worth trying again after this long, if the server said.
    case rateLimited(retryAfter: Duration?)
    /// No answer, or none that can be read. Worth trying again.
    case unavailable(String)

    /// Whether the same request may succeed later.
    var isTransient: Bool {
        switch self {
        case .rateLimited, .unavailable: true
        case .grantRefused, .requestRefused: false
        }
    }

    /// What a person reads when connecting the account failed.
    var whileConnecting: ApplicationError {
        switch self {
        case .grantRefused(let reason):
            ApplicationError(
                code: "spotify.code-refused", message: "Spotify did not accept the consent: \(reason)",
                recovery: "Connect Spotify again.")
        case .requestRefused(let reason):
            requestRefused(reason)
        case .rateLimited, .unavailable:
            transient(recovery: "Reload the page in the browser to try again.")
        }
    }

    /// What a person reads when the account could not be kept connected.
    var whileRefreshing: ApplicationError {
        switch self {
        case .grantRefused(let reason):
            ApplicationError(
                code: "spotify.access-revoked", message: "Spotify ended the app's access: \(reason)",
                recovery: "Connect Spotify again.")
        case .requestRefused(let reason):
            requestRefused(reason)
        case .rateLimited, .unavailable:
            transient(recovery: "You stay connected; try again in a moment.")
        }
    }

    private func requestRefused(_ reason: String) -> ApplicationError {
        ApplicationError(
            code: "spotify.request-refused", message: "Spotify refused the app's request: \(reason)",
            recovery: "Check the client id and the redirect URI of the app at developer.spotify.com.")
    }

    private func transient(recovery: String) -> ApplicationError {
        switch self {
        case .rateLimited(let retryAfter?):
            ApplicationError(
                code: "spotify.rate-limited",
                message: "Spotify asks to wait \(retryAfter.components.seconds) seconds", recovery: recovery,
                severity: .warning)
        case .rateLimited(nil):
            ApplicationError(
                code: "spotify.rate-limited", message: "Spotify asks to wait", recovery: recovery, severity: .warning)
        case .unavailable(let reason), .grantRefused(let reason), .requestRefused(let reason):
            ApplicationError(
                code: "spotify.unavailable", message: "Spotify could not be reached: \(reason)", recovery: recovery)
        }
    }
}

extension ApplicationError {
    /// The answer belongs to no request of ours: forged, replaced by a newer request, or answered before.
    static var unknownState: ApplicationError {
        ApplicationError(
            code: "spotify.state-mismatch",
            message: "The answer from the browser belongs to no request for access that is open",
            recovery: "Connect Spotify again from the app.")
    }

    static var noRefreshToken: ApplicationError {
        ApplicationError(
            code: "spotify.no-refresh-token", message: "Spotify gave access that cannot be renewed",
            recovery: "Connect Spotify again.")
    }

    /// - Parameter error: an error code of RFC 6749 §4.1.2.1. Only one that looks like a code is repeated: it comes
    ///   from whoever opened the loopback URL.
    static func denied(_ error: String) -> ApplicationError {
        guard error != "access_denied" else {
            return ApplicationError(
                code: "spotify.access-denied", message: "Access to Spotify was denied",
                recovery: "Connect Spotify again and agree, to go on.")
        }
        let isCode = error.utf8.count <= 40 && error.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "_") }
        return ApplicationError(
            code: "spotify.consent-failed", message: "Spotify could not ask for consent\(isCode ? ": \(error)" : "")",
            recovery: "Connect Spotify again.")
    }
}
