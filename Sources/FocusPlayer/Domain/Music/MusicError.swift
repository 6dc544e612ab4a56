internal import Contracts
internal import Vocabulary

/// The reason why an operation with Spotify failed.
package enum MusicError: Error, Hashable {
    /// The object of a request to Spotify.
    package enum Object: Hashable, Sendable, CustomStringConvertible {
        case account
        /// The list of the account's playlists.
        case playlists
        /// The playlist with an id, and its songs.
        case playlist(String)
        /// The list of the account's devices.
        case devices
        /// The playback, as it is read.
        case playback
        /// The device on which a command changes the playback.
        case device

        package var description: String {
            switch self {
            case .account: "the account"
            case .playlists: "the list of playlists"
            case .playlist(let id): "the playlist \(id)"
            case .devices: "the devices"
            case .playback: "the playback"
            case .device: "the device"
            }
        }
    }

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
    /// The requested object does not exist.
    case notFound(Object)
    /// Spotify refused the request, for example because the account may not do this. The value is the reason.
    case forbidden(String)
    /// Spotify does not tell the songs of a playlist: only its owner and its collaborators may list them. The value is
    /// the reason.
    case playlistForbidden(String)
    /// Too many requests. The value is the time after which the request may be repeated; nil if Spotify gave none.
    case rateLimited(retryAfter: Duration?)
    /// A list has more entries than the maximum.
    case tooLong(Object, limit: Int)
    /// Spotify did not answer, or its answer is unusable. The request may be repeated. The value is the reason.
    case unavailable(String)

    /// The error to show to a person. Nil if another process publishes the error.
    var applicationError: ApplicationError? {
        switch self {
        case .authorizationEnded, .renewalFailed:
            nil
        case .notAuthorized:
            error(
                code: "spotify.not-connected", message: "Spotify is not connected", recovery: "Connect Spotify first.")
        case .renewalOverdue:
            error(
                code: "spotify.renewal-overdue", message: "The access to Spotify was not renewed in time",
                recovery: "Try again in a moment.")
        case .accessUnreadable:
            error(
                code: "spotify.access-unreadable", message: "The access to Spotify cannot be read",
                recovery: "See the log of music-service, or connect Spotify again.")
        case .unauthorized:
            error(
                code: "spotify.unauthorized", message: "Spotify refuses access even after it was renewed",
                recovery: "Connect Spotify again.")
        case .premiumRequired:
            error(
                code: "spotify.premium-required", message: "This needs Spotify Premium",
                recovery: "Open the playlist in Spotify instead.")
        case .noActiveDevice:
            error(
                code: "spotify.no-active-device", message: "No Spotify device is active",
                recovery: "Open Spotify on a device.")
        case .notFound(let object):
            error(
                code: "spotify.not-found", message: "Spotify did not find \(object)",
                recovery: object.recoveryFromNotFound)
        case .forbidden(let reason):
            error(code: "spotify.forbidden", message: "Spotify does not allow this: \(reason)", recovery: nil)
        case .playlistForbidden(let reason):
            error(
                code: "spotify.forbidden", message: "Spotify does not tell apps the songs of this playlist: \(reason)",
                recovery: "Choose a playlist that you own or may edit.")
        case .rateLimited(let retryAfter):
            .rateLimited(recovery: "Try again \(ApplicationError.timeOfRetry(retryAfter)).")
        case .tooLong(let object, let limit):
            error(
                code: "spotify.too-long",
                message: "Spotify has more than \(limit) entries in \(object), which are too many",
                recovery: object.recoveryFromLength)
        case .unavailable(let reason):
            error(
                code: "spotify.unavailable", message: "Spotify gave no usable answer: \(reason)",
                recovery: "Try again in a moment.")
        }
    }

    private func error(code: String, message: String, recovery: String?) -> ApplicationError {
        ApplicationError(code: code, message: message, recovery: recovery)
    }
}

extension MusicError.Object {
    /// What a person can do if the object does not exist.
    fileprivate var recoveryFromNotFound: String {
        switch self {
        case .playlist: "Choose another playlist."
        case .device: "Open Spotify on a device, and choose it."
        case .account, .playlists, .devices, .playback: "Try again later."
        }
    }

    /// What a person can do if the list is too long.
    fileprivate var recoveryFromLength: String {
        switch self {
        case .playlist: "Choose a shorter playlist."
        case .account, .playlists, .devices, .playback, .device: "Remove some of them in Spotify."
        }
    }
}
