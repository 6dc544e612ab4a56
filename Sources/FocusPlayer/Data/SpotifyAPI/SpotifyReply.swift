internal import Foundation
internal import HTTPClient
internal import HTTPTypes

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
