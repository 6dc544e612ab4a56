internal import Authorization
internal import HTTPTypes

extension AuthorizationFailure {
    /// The token endpoint's error, by RFC 6749 §5.2.
    private struct Payload: Decodable {
        let error: String
        let errorDescription: String?
    }

    init(_ reply: SpotifyReply) {
        let payload = reply.decode(Payload.self)
        let reason = ServerMessage.line(payload?.errorDescription ?? payload?.error ?? "status \(reply.status.code)")
        switch reply.status.code {
        case 429:
            self = .rateLimited(retryAfter: reply.retryAfter)
        case 400..<500 where payload?.error == "invalid_grant":
            self = .grantRefused(reason)
        case 400..<500:
            self = .requestRefused(reason)
        default:
            self = .unavailable("it answered with status \(reply.status.code)")
        }
    }
}
