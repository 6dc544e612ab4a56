/// A refusal of the Web API: `{"error":{"status","message","reason"?}}`.
struct WebAPIError: Error, Sendable, Equatable {
    /// The HTTP status.
    let statusCode: Int
    /// What people read.
    let message: String
    /// What programs act on, where Spotify gives it.
    var reason: String?
    /// Seconds until the client may try again.
    var retryAfter: Int?

    static let noToken = Self(statusCode: 401, message: "No token provided")
    static let invalidAccessToken = Self(statusCode: 401, message: "Invalid access token")
    static let expiredAccessToken = Self(statusCode: 401, message: "The access token expired")
    static let notBearer = Self(statusCode: 400, message: "Only valid bearer authentication supported")
    static let insufficientScope = Self(statusCode: 403, message: "Insufficient client scope")
    static let forbidden = Self(statusCode: 403, message: "Forbidden")
    static let resourceNotFound = Self(statusCode: 404, message: "Resource not found")
    static let serviceNotFound = Self(statusCode: 404, message: "Service not found")
    static let deviceNotFound = Self(statusCode: 404, message: "Device not found")
    static let premiumRequired = Self(
        statusCode: 403,
        message: "Player command failed: Premium required",
        reason: "PREMIUM_REQUIRED"
    )
    static let noActiveDevice = Self(
        statusCode: 404,
        message: "Player command failed: No active device found",
        reason: "NO_ACTIVE_DEVICE"
    )
    static let restrictedDevice = Self(statusCode: 403, message: "Player command failed: Restriction violated")

    static func badRequest(_ message: String) -> Self { Self(statusCode: 400, message: message) }
}
