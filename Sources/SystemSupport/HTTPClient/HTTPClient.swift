package import Foundation
package import HTTPTypes

/// A client for requests whose answers fit into memory.
///
/// It follows no redirect, which could take a token to another host; it speaks `http` and `https` only, reads no proxy,
/// cookie or password from its surroundings, and checks certificates against the system's authorities.
package struct HTTPClient: Sendable {
    private let transfers: TransferThread

    /// Runs `body` with a client. Requests that are under way when it returns fail with ``Failure/Code/closed``.
    /// - Parameter authorities: a file of PEM certificates to trust instead of the system's.
    package static func with<Result>(
        authorities: String? = nil, _ body: (HTTPClient) async throws -> Result
    ) async throws -> Result {
        let transfers = try TransferThread(authorities: authorities)
        return try await withThrowingTaskGroup { group in
            group.addTask { await transfers.run() }
            defer { transfers.stop() }
            return try await body(HTTPClient(transfers: transfers))
        }
    }

    /// Sends a request and reads the whole answer, whatever its status is.
    ///
    /// A connection that was kept open and that the server has closed meanwhile is replaced; only requests with an
    /// idempotent method (RFC 9110 §9.2.2) use kept connections, so no other request is sent twice.
    /// - Parameters:
    ///   - deadline: for the whole exchange, from the look-up of the host's name to the last byte of the body.
    ///   - maximumBody: bytes; the exchange ends as soon as the body is longer.
    /// - Throws: ``Failure``, `CancellationError`.
    package func send(_ request: Request, deadline: Duration, maximumBody: Int) async throws -> Response {
        try Task.checkCancellation()
        let id = TransferThread.nextID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                transfers.submit(
                    TransferOrder(
                        id: id, request: request, deadline: deadline, maximumBody: maximumBody,
                        continuation: continuation))
                // The handler may have run before there was anything to cancel.
                if Task.isCancelled { transfers.cancel(id) }
            }
        } onCancel: {
            transfers.cancel(id)
        }
    }
}

extension HTTPClient {
    package struct Request: Sendable {
        package var method: HTTPRequest.Method
        /// An absolute `http` or `https` URL. Its path is sent as it is: dot segments are not removed.
        package var url: String
        package var headers: HTTPFields
        /// `nil` sends neither a body nor its length.
        package var body: Data?

        package init(
            _ method: HTTPRequest.Method = .get, _ url: String, headers: HTTPFields = [:], body: Data? = nil
        ) {
            self.method = method
            self.url = url
            self.headers = headers
            self.body = body
        }

        /// Posts `name=value` pairs that are percent-encoded already.
        package static func post(form: String, to url: String) -> Request {
            Request(
                .post, url, headers: [.contentType: "application/x-www-form-urlencoded"], body: Data(form.utf8))
        }
    }

    package struct Response: Sendable {
        package let status: HTTPResponse.Status
        package let headers: HTTPFields
        package let body: Data

        /// The body as UTF-8; invalid bytes become U+FFFD.
        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// The reason why there is no answer. It contains no part of the request.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package enum Code: Sendable {
            /// The URL cannot be read, or has another scheme.
            case url
            case noConnection
            /// The server's certificate is not valid for its name, or no known authority has signed it.
            case certificate
            case deadline
            /// The header is larger than 64 KiB or the body longer than asked for.
            case tooLong
            /// The connection ended before the answer did, or the received bytes are not HTTP.
            case broken
            /// The client was closed.
            case closed
        }

        package let code: Code
        /// A few words, as in `no connection`.
        package let description: String
    }
}
