import HTTPTypes
import Hummingbird

/// Where the client reached the Web API, so that links lead back the same way.
struct APIBase: Sendable {
    private let authority: String

    init(_ request: Request) {
        authority = request.head.authority ?? "127.0.0.1"
    }

    /// The absolute URL of a path under `/v1`.
    func url(_ path: String) -> String { "http://\(authority)/v1/\(path)" }
}
