package import Foundation
package import HTTPTypes

/// An HTTP client for responses that fit into memory.
///
/// It follows no redirect. It supports `http` and `https` only. It uses no proxy, cookie or password of its
/// environment. By default it checks certificates against the system's authorities.
package struct HTTPClient: Sendable {
    private let transfers: TransferThread

    /// Runs `body` with a client. Requests that are under way when `body` returns fail with ``Failure/Code/closed``.
    /// - Parameter authorities: The path of a file of PEM certificates to trust instead of the system's; nil to trust
    ///   the system's.
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

    /// Sends a request and reads the whole response, whatever its status is.
    ///
    /// If the server has closed the connection that was kept from an earlier request, the request is sent again on a
    /// new connection. Only requests with a safe method (RFC 9110 §9.2.1) use kept connections.
    /// - Parameters:
    ///   - deadline: The maximum time of the whole exchange, from the look-up of the host's name to the last byte of
    ///     the body. A longer exchange fails with ``Failure/Code/deadline``.
    ///   - maximumBody: The maximum size of the response's body in bytes. As soon as more bytes arrive, the exchange
    ///     fails with ``Failure/Code/tooLong``.
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
                // The cancellation handler may have run before there was a transfer to cancel.
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
        /// An absolute `http` or `https` URL. Its path is sent unchanged: dot segments are not removed.
        package var url: String
        package var headers: HTTPFields
        /// If nil, neither a body nor a `Content-Length` is sent.
        package var body: Data?

        package init(
            _ method: HTTPRequest.Method = .get, _ url: String, headers: HTTPFields = [:], body: Data? = nil
        ) {
            self.method = method
            self.url = url
            self.headers = headers
            self.body = body
        }

        /// A POST request with a form: `name=value` pairs that are already percent-encoded and joined by `&`.
        package static func post(form: String, to url: String) -> Request {
            Request(
                .post, url, headers: [.contentType: "application/x-www-form-urlencoded"], body: Data(form.utf8))
        }
    }

    package struct Response: Sendable {
        package let status: HTTPResponse.Status
        package let headers: HTTPFields
        package let body: Data

        /// The body as UTF-8. Invalid bytes become U+FFFD.
        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// The reason why there is no response. It contains no part of the request, which may hold secrets.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package enum Code: Sendable {
            /// The URL is invalid, or its scheme is neither `http` nor `https`.
            case url
            /// The host's name cannot be resolved, or the host accepts no connection.
            case noConnection
            /// The server's certificate cannot be verified, for example because it is not valid for the server's name,
            /// or is not signed by a trusted authority.
            case certificate
            /// The exchange took longer than the request allows.
            case deadline
            /// The header is larger than 64 KiB, or the body is longer than the request allows.
            case tooLong
            /// The connection ended before the response did, the received bytes are not HTTP, or libcurl failed in
            /// another way.
            case broken
            /// The client was closed.
            case closed
        }

        package let code: Code
        /// A phrase for error messages, such as `no connection`.
        package let description: String
    }
}
