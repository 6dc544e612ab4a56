internal import Foundation
internal import HTTPClient
internal import HTTPTypes
internal import Music
internal import Support

/// Sends requests to a Spotify host. The time of an attempt, the size of the answer, the number of attempts and the time
/// of all attempts with the waits between them are limited.
struct SpotifyTransport: Sendable {
    /// The maximum time of one attempt, until the whole answer has been received. A slower attempt fails.
    private static let deadline = Duration.seconds(10)
    /// The maximum size of an answer in bytes. A larger answer is an error.
    private static let maximumBody = 4 << 20

    let client: HTTPClient
    let policy: RateLimitPolicy

    /// - Parameter limit: the maximum time of all attempts with the waits between them. Nil for that of the policy.
    /// - Throws: `HTTPClient.Failure`, `CancellationError`.
    func send(_ request: HTTPClient.Request, within limit: Duration? = nil) async throws -> SpotifyReply {
        try await withTimeLimit(limit ?? policy.overallLimit, orThrow: HTTPClient.Failure.deadline) {
            try await attempts(at: request)
        }
    }

    private func attempts(at request: HTTPClient.Request) async throws -> SpotifyReply {
        var attempt = 1
        while true {
            let response = try await client.send(request, deadline: Self.deadline, maximumBody: Self.maximumBody)
            let reply = SpotifyReply(response)
            guard reply.status == .tooManyRequests, attempt < policy.attempts,
                let wait = reply.retryAfter, wait <= policy.longestWait
            else { return reply }
            try await policy.sleep(wait)
            attempt += 1
        }
    }
}

/// The number of times that a request is sent, and the time between them, when Spotify answers "too many requests".
package struct RateLimitPolicy: Sendable {
    /// The maximum `Retry-After` for which a request waits. A longer time is an error.
    package let longestWait: Duration
    /// The maximum number of times that a request is sent.
    package let attempts: Int
    /// The maximum time of all attempts of a request with the waits between them.
    package let overallLimit: Duration
    let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: waits for this time.
    package init(
        longestWait: Duration = .seconds(5), attempts: Int = 3, overallLimit: Duration = .seconds(20),
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.longestWait = longestWait
        self.attempts = attempts
        self.overallLimit = overallLimit
        self.sleep = sleep
    }
}

/// The complete answer of a Spotify host.
struct SpotifyReply: Sendable {
    let status: HTTPResponse.Status
    /// The time in the `Retry-After` header. Nil if the header is absent or not a number of seconds.
    let retryAfter: Duration?
    let body: Data
    private let contentType: String?

    init(_ response: HTTPClient.Response) {
        status = response.status
        retryAfter = response.headers[.retryAfter].flatMap(Int64.init).flatMap {
            $0 >= 0 ? .seconds(SafeIntegers.limit($0)) : nil
        }
        body = response.body
        contentType = response.headers[.contentType]
    }

    /// The body if it is plain text, as the server wrote it. Nil if it is empty.
    var plainText: String? {
        guard let contentType, contentType.lowercased().begins(with: "text/plain"), !body.isEmpty else { return nil }
        return String(decoding: body, as: UTF8.self)
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
