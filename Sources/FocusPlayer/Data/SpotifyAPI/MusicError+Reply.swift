internal import HTTPTypes
internal import Music

extension MusicError {
    /// The Web API's error: `{"error": {"status", "message", "reason"?}}`.
    private struct Payload: Decodable {
        struct Details: Decodable {
            let message: String?
            let reason: String?
        }
        let error: Details
    }

    /// - Parameters:
    ///   - generation: of the token that the request showed.
    ///   - what: what the request was about, as in `the playlist 37i9`.
    init(_ reply: SpotifyReply, generation: Int, about what: String) {
        let details = reply.decode(Payload.self)?.error
        switch (reply.status.code, details?.reason) {
        case (401, _):
            self = .unauthorized(generation: generation)
        case (403, "PREMIUM_REQUIRED"):
            self = .premiumRequired
        case (403, _):
            self = .forbidden(ServerMessage.line(details?.message ?? "it gave no reason"))
        case (404, "NO_ACTIVE_DEVICE"):
            self = .noActiveDevice
        case (404, _):
            self = .notFound(what)
        case (429, _):
            self = .rateLimited(retryAfter: reply.retryAfter)
        case (400..<500, _):
            self = .forbidden(ServerMessage.line(details?.message ?? "status \(reply.status.code)"))
        default:
            self = .unavailable("it answered with status \(reply.status.code)")
        }
    }
}
