internal import Contracts
internal import Support
internal import Vocabulary

/// The reason why the authorization server gave no tokens. A string in a case describes the problem.
package enum AuthorizationFailure: Error, Hashable {
    /// The grant is permanently invalid (`invalid_grant`): for example the code is wrong, or the refresh token is
    /// revoked or expired.
    case grantRefused(String)
    /// The server refused the request for another reason: for example the client is unknown, or the redirect URI is not
    /// registered.
    case requestRefused(String)
    /// Too many requests. The value is the time after which the request may be repeated; nil if the server gave none.
    case rateLimited(retryAfter: Duration?)
    /// The server did not answer, or its answer is unusable. The request may be repeated.
    case unavailable(String)

    /// True if the same request may succeed later.
    var isTransient: Bool {
        switch self {
        case .rateLimited, .unavailable: true
        case .grantRefused, .requestRefused: false
        }
    }

    /// The error to show when connecting the account failed.
    var whileConnecting: ApplicationError {
        switch self {
        case .grantRefused(let reason):
            ApplicationError(
                code: "spotify.code-refused", message: "Spotify did not accept the consent: \(reason)",
                recovery: "Connect Spotify again.")
        case .requestRefused(let reason):
            requestRefused(reason)
        case .rateLimited, .unavailable:
            transient { "Reload the page in the browser \($0) to try again." }
        }
    }

    /// The error to show when the access could not be renewed.
    var whileRefreshing: ApplicationError {
        switch self {
        case .grantRefused(let reason):
            ApplicationError(
                code: "spotify.access-revoked", message: "Spotify ended the app's access: \(reason)",
                recovery: "Connect Spotify again.")
        case .requestRefused(let reason):
            requestRefused(reason)
        case .rateLimited, .unavailable:
            transient { "You stay connected; try again \($0)." }
        }
    }

    private func requestRefused(_ reason: String) -> ApplicationError {
        ApplicationError(
            code: "spotify.request-refused", message: "Spotify refused the app's request: \(reason)",
            recovery: "Check the client id and the redirect URI of the app at developer.spotify.com.")
    }

    /// - Parameter recovery: receives the time at which the request may be repeated, as a part of a sentence.
    private func transient(recovery: (String) -> String) -> ApplicationError {
        switch self {
        case .rateLimited(let retryAfter):
            .rateLimited(recovery: recovery(ApplicationError.timeOfRetry(retryAfter)), severity: .warning)
        case .unavailable(let reason), .grantRefused(let reason), .requestRefused(let reason):
            ApplicationError(
                code: "spotify.unavailable", message: "Spotify gave no usable answer: \(reason)",
                recovery: recovery("in a moment"))
        }
    }
}

extension ApplicationError {
    /// The error for an answer that does not belong to an open request. For example, the answer is forged, or its
    /// request was replaced with a newer request.
    static var unknownState: ApplicationError {
        ApplicationError(
            code: "spotify.state-mismatch",
            message: "The answer from the browser does not belong to an open request for access",
            recovery: "Connect Spotify again from the app.")
    }

    static var requestExpired: ApplicationError {
        ApplicationError(
            code: "spotify.request-expired", message: "The request for access to Spotify has expired",
            recovery: "Connect Spotify again from the app.")
    }

    static var noRefreshToken: ApplicationError {
        ApplicationError(
            code: "spotify.no-refresh-token", message: "Spotify gave access that cannot be renewed",
            recovery: "Connect Spotify again.")
    }

    /// - Parameter error: an error code of RFC 6749 §4.1.2.1. It is shown only if it has the form of a code.
    static func denied(_ error: String) -> ApplicationError {
        guard error != "access_denied" else {
            return ApplicationError(
                code: "spotify.access-denied", message: "Access to Spotify was denied",
                recovery: "To continue, connect Spotify again and agree.")
        }
        let isCode =
            error.utf8.count <= 40
            && error.utf8.allSatisfy { Unicode.Scalar($0).isASCIILetter || $0 == UInt8(ascii: "_") }
        return ApplicationError(
            code: "spotify.consent-failed", message: "Spotify could not ask for consent\(isCode ? ": \(error)" : "")",
            recovery: "Connect Spotify again.")
    }
}
