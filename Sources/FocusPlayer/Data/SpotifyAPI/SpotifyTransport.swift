internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

/// Sends requests to either host: with a deadline, a bounded answer, and patience as far as the policy goes.
struct SpotifyTransport: Sendable {
    /// Why there is no answer: in words that hold nothing of the request.
    struct Failure: Error {
        let reason: String
    }

    private static let deadline = TimeAmount.seconds(10)
    /// A page of 50 items with all their covers and markets stays below 1 MiB.
    private static let maximumBody = 4 << 20

    let client: HTTPClient
    let policy: RetryPolicy

    /// - Throws: ``Failure``, `CancellationError`.
    func send(_ request: HTTPClientRequest) async throws -> SpotifyReply {
        var attempt = 1
        while true {
            let reply = try await sendOnce(request)
            guard reply.status == .tooManyRequests, attempt < policy.attempts,
                let wait = reply.retryAfter, wait <= policy.longestWait
            else { return reply }
            // Spotify has not acted upon it: any request may be sent again.
            try await policy.sleep(wait)
            attempt += 1
        }
    }

    private func sendOnce(_ request: HTTPClientRequest) async throws -> SpotifyReply {
        do {
            let response = try await client.execute(request, timeout: Self.deadline)
            let body = try await response.body.collect(upTo: Self.maximumBody)
            return SpotifyReply(head: response, body: Data(buffer: body))
        } catch {
            // A cancelled request fails with an error of the client's own.
            try Task.checkCancellation()
            throw Failure(reason: Self.reason(of: error))
        }
    }

    private static func reason(of error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: error.shortDescription
        case is NIOTooManyBytesError: "the answer is too long"
        default: "no connection"
        }
    }
}
