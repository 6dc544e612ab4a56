internal import Foundation
internal import HTTPClient
internal import HTTPTypes

/// Sends requests to either host: with a deadline, a bounded answer, and as many attempts as the policy allows.
struct SpotifyTransport: Sendable {
    /// For the whole exchange.
    private static let deadline = Duration.seconds(10)
    /// A page of 50 items with all their covers and markets stays below 1 MiB.
    private static let maximumBody = 4 << 20

    let client: HTTPClient
    let policy: RateLimitPolicy

    /// - Throws: `HTTPClient.Failure`, `CancellationError`.
    func send(_ request: HTTPClient.Request) async throws -> SpotifyReply {
        var attempt = 1
        while true {
            let response = try await client.send(request, deadline: Self.deadline, maximumBody: Self.maximumBody)
            let reply = SpotifyReply(response)
            guard reply.status == .tooManyRequests, attempt < policy.attempts,
                let wait = reply.retryAfter, wait <= policy.longestWait
            else { return reply }
            // Spotify has not acted upon it: any request may be sent again.
            try await policy.sleep(wait)
            attempt += 1
        }
    }
}

/// The number of times that a request is sent, and the time between them, when Spotify answers "too many requests".
package struct RateLimitPolicy: Sendable {
    /// The longest `Retry-After` that is waited for; a longer one is reported instead.
    package let longestWait: Duration
    /// How many times one request is sent at most.
    package let attempts: Int
    let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: waits; a test passes one that does not.
    package init(
        longestWait: Duration = .seconds(5), attempts: Int = 3,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.longestWait = longestWait
        self.attempts = attempts
        self.sleep = sleep
    }
}

/// An answer of either host, read to its end.
struct SpotifyReply: Sendable {
    let status: HTTPResponse.Status
    /// What `Retry-After` says, if it says seconds.
    let retryAfter: Duration?
    let body: Data

    init(_ response: HTTPClient.Response) {
        status = response.status
        retryAfter = response.headers[.retryAfter].flatMap(Int64.init).flatMap { $0 >= 0 ? .seconds($0) : nil }
        body = response.body
    }

    var isSuccess: Bool { (200..<300).contains(status.code) }

    /// The JSON in the body; nil if it is not what was expected.
    func decode<Value: Decodable>(_ type: Value.Type = Value.self) -> Value? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try? decoder.decode(type, from: body)
    }
}

/// Percent-encoding that leaves only RFC 3986's unreserved characters, which every parser reads alike: in a query, in a
/// form, and in one segment of a path.
enum FormEncoding {
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    static func encode(_ fields: KeyValuePairs<String, String>) -> String {
        fields.map { "\(escape($0))=\(escape($1))" }.joined(separator: "&")
    }

    static func escape(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

/// What a server says went wrong, made fit to show: one line of bounded length.
enum ServerMessage {
    private static let longestWord = 40
    private static let longestLine = 160

    /// Leaves out words longer than any in a language, which could be a token sent back to us, and words with control
    /// characters, which a terminal would obey.
    static func line(_ text: String) -> String {
        let words = text.split(whereSeparator: \.isWhitespace).map { word in
            let isPlain =
                word.count <= longestWord
                && word.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            return isPlain ? String(word) : "…"
        }
        return String(words.joined(separator: " ").prefix(longestLine))
    }
}
