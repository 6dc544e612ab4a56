import HTTPTypes
import Hummingbird

/// An error of the Web API: `{"error":{"status","message","reason"?}}`.
struct WebAPIError: Error, Encodable, Sendable, Equatable {
    /// The HTTP status.
    let statusCode: Int
    /// The message, for people.
    let message: String
    /// The code, for programs. `nil` if Spotify gives none.
    var reason: String?

    private enum CodingKeys: String, CodingKey {
        case statusCode = "status"
        case message, reason
    }

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
    /// The device takes no commands, or the state of the playback does not allow the command.
    static let restriction = Self(
        statusCode: 403,
        message: "Player command failed: Restriction violated",
        reason: "UNKNOWN"
    )
    static let volumeNotControllable = Self(
        statusCode: 403,
        message: "Player command failed: Cannot control device volume",
        reason: "VOLUME_CONTROL_DISALLOW"
    )
    static let contextNotFound = Self(statusCode: 404, message: "Context not found")
    static let invalidFields = Self(statusCode: 400, message: "Invalid fields")

    static func badRequest(_ message: String) -> Self { Self(statusCode: 400, message: message) }
}

extension WebAPIError: HTTPResponseError {
    var status: HTTPResponse.Status { HTTPResponse.Status(code: statusCode) }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = try context.responseEncoder.encode(["error": self], from: request, context: context)
        response.status = status
        // RFC 6750 §3
        if statusCode == 401 { response.headers[.wwwAuthenticate] = #"Bearer realm="spotify""# }
        return response
    }
}
