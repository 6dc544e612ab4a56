internal import Contracts

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
