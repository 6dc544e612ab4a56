internal import AsyncHTTPClient
internal import Foundation
internal import NIOHTTP1

/// An answer of either host, read to its end.
struct SpotifyReply: Sendable {
    let status: HTTPResponseStatus
    /// What `Retry-After` says, if it says seconds.
    let retryAfter: Duration?
    let body: Data

    init(head: HTTPClientResponse, body: Data) {
        status = head.status
        retryAfter = head.headers.first(name: "retry-after")
            .flatMap(Int64.init)
            .flatMap { $0 >= 0 ? .seconds($0) : nil }
        self.body = body
    }

    var isSuccess: Bool { (200..<300).contains(status.code) }

    /// The JSON in the body; nil if it is not what was expected.
    func decode<Value: Decodable>(_ type: Value.Type = Value.self) -> Value? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try? decoder.decode(type, from: body)
    }
}
