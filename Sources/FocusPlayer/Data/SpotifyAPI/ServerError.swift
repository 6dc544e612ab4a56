internal import Foundation
internal import Support

/// The error in an answer of Spotify. Its servers use several forms: `{"error": {"status", "message", "reason"?}}` in
/// the Web API, `{"error", "error_description"?}` for tokens (RFC 6749 §5.2), the same fields without an object around
/// them, and plain text. Fields of another type count as absent.
struct ServerError {
    /// The code for programs, such as `PREMIUM_REQUIRED` or `invalid_grant`. Nil if there is none.
    let code: String?
    /// The text for a person, as the server wrote it: the code if there is no other. Nil if there is none.
    let message: String?

    private struct Payload: Decodable {
        private enum CodingKeys: CodingKey {
            case error, errorDescription, message, reason
        }

        let code: String?
        let message: String?

        init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                (code, message) = (nil, text)
                return
            }
            let outer = try decoder.container(keyedBy: CodingKeys.self)
            let inner = try? outer.nestedContainer(keyedBy: CodingKeys.self, forKey: .error)
            func text(_ key: CodingKeys, in container: KeyedDecodingContainer<CodingKeys>?) -> String? {
                guard let text = try? container?.decode(String.self, forKey: key) else { return nil }
                return text.isBlank ? nil : text
            }
            let code = text(.reason, in: inner) ?? text(.error, in: outer) ?? text(.reason, in: outer)
            let messages = [inner, outer].flatMap { [text(.message, in: $0), text(.errorDescription, in: $0)] }
            self.code = code
            message = messages.compactMap(\.self).first ?? code
        }
    }

    init(_ reply: SpotifyReply) {
        let payload = reply.decode(Payload.self)
        code = payload?.code
        message = payload.map(\.message) ?? reply.plainText
    }
}
