internal import Contracts

extension AuthorizationFailure {
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
