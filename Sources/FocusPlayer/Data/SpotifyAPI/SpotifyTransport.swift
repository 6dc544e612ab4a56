internal import Foundation
internal import HTTPClient
internal import HTTPTypes
internal import Music
internal import Support

/// Sends requests to a Spotify host. The time of an attempt, the size of the answer, the number of attempts and the time
/// of all attempts with the waits between them are limited.
///
/// While Spotify asks to wait, requests are not sent: they are answered here as Spotify answers them, with the rest of
/// the wait.
struct SpotifyTransport: Sendable {
    /// The maximum time of one attempt, until the whole answer has been received. A slower attempt fails.
    private static let deadline = Duration.seconds(10)
    /// The maximum size of an answer in bytes. A larger answer is an error.
    private static let maximumBody = 4 << 20

    let client: HTTPClient
    let policy: RateLimitPolicy
    let rateLimit: SharedRateLimit

    /// - Parameters:
    ///   - limit: the maximum time of all attempts with the waits between them. Nil for that of the policy.
    ///   - attempts: the maximum number of attempts. Nil for that of the policy.
    /// - Throws: `HTTPClient.Failure`, `CancellationError`.
    func send(
        _ request: HTTPClient.Request, within limit: Duration? = nil, attempts: Int? = nil
    ) async throws -> SpotifyReply {
        let limit = limit ?? policy.overallLimit
        let count = (attempts ?? policy.attempts) - 1
        let deadline = policy.now() + limit
        return try await withTimeLimit(limit, orThrow: HTTPClient.Failure.deadline) {
            var waits = RateLimitWaits(
                policy, longest: policy.longestWait, total: limit, count: count, deadline: deadline)
            while true {
                let reply = try await attempt(request)
                guard reply.status == .tooManyRequests, try await waits.wait(for: reply.retryAfter) else {
                    return reply
                }
            }
        }
    }

    private func attempt(_ request: HTTPClient.Request) async throws -> SpotifyReply {
        if let wait = rateLimit.remaining(at: policy.now()) { return SpotifyReply(retryAfter: wait) }
        let response = try await client.send(request, deadline: Self.deadline, maximumBody: Self.maximumBody)
        let reply = SpotifyReply(response)
        if reply.status == .tooManyRequests { rateLimit.record(reply.retryAfter, at: policy.now()) }
        return reply
    }
}

/// The complete answer of a Spotify host.
struct SpotifyReply: Sendable {
    /// The maximum time in `Retry-After`. A longer time counts as this one: nobody is locked out by a wrong number.
    private static let longestWait = 24 * 60 * 60

    let status: HTTPResponse.Status
    /// The time in the `Retry-After` header. Nil if the header is absent or not a number of seconds.
    let retryAfter: Duration?
    let body: Data
    private let contentType: String?

    init(_ response: HTTPClient.Response) {
        status = response.status
        retryAfter = response.headers[.retryAfter].flatMap(Int64.init).flatMap {
            $0 >= 0 ? .seconds(min($0, Int64(Self.longestWait))) : nil
        }
        body = response.body
        contentType = response.headers[.contentType]
    }

    /// The answer "too many requests".
    init(retryAfter: Duration) {
        status = .tooManyRequests
        self.retryAfter = retryAfter
        body = Data()
        contentType = nil
    }

    /// The body if it is plain text, as the server wrote it. Nil if it is empty, HTML, or JSON, which can be incomplete.
    var plainText: String? {
        let type = contentType?.lowercased() ?? "text/plain"
        guard type.begins(with: "text/plain") || type.begins(with: "application/json") else { return nil }
        let text = String(decoding: body, as: UTF8.self)
        guard let first = text.trimmed.unicodeScalars.first else { return nil }
        return "<{[".unicodeScalars.contains(first) ? nil : text
    }

    var isSuccess: Bool { (200..<300).contains(status.code) }

    /// Decodes the body. Nil if the body does not have the expected form.
    func decode<Value: Decodable>(_ type: Value.Type = Value.self) -> Value? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try? decoder.decode(type, from: body)
    }
}

/// The fields of a form, or of a query.
enum FormEncoding {
    static func encode(_ fields: KeyValuePairs<String, String>) -> String {
        fields.map { "\(PercentEncoding.encode($0))=\(PercentEncoding.encode($1))" }.joined(separator: "&")
    }
}
