import HTTPTypes
import Hummingbird
import Support
import Synchronization

/// A failure that was ordered at the control routes for the next requests.
struct Fault: Encodable, Sendable, Equatable {
    /// A change of an answer's body.
    enum Damage: String, Encodable, CaseIterable, Sendable {
        /// The body arrives in pieces.
        case slow
        /// The connection is closed after half of the body.
        case truncated
        /// The body is a page of HTML.
        case notJSON = "not-json"
        /// The answer has no body.
        case empty
    }

    /// The path of the requests, or the beginning of a path followed by `*`.
    let path: String
    /// The status of the answer; `nil` if the request is handled, and its answer is delayed or damaged.
    let status: Int?
    /// The code for programs in an error's body; `nil` for the usual code of the status.
    let error: String?
    /// The value of the `Retry-After` header, which need not be valid; `nil` for no header.
    let retryAfter: String?
    /// The delay before the answer.
    let delayInMilliseconds: Int
    /// The change of the body; `nil` for none.
    let body: Damage?
    /// The time in which a slow body arrives.
    let bodyInMilliseconds: Int
    /// The number of requests that still get this fault.
    var remaining: Int

    /// True if the fault applies to requests for the path. A trailing slash is ignored, unless the fault's path
    /// ends in `*`.
    func strikes(_ requested: String) -> Bool {
        if let beginning = path.removing(suffix: "*") { return requested.begins(with: beginning) }
        return Self.normalized(path) == Self.normalized(requested)
    }

    private static func normalized(_ path: String) -> Substring {
        path.removing(suffix: "/") ?? path[...]
    }
}

/// Applies the faults that were ordered at the control routes.
struct FaultInjection: RouterMiddleware {
    let simulation: Simulation

    func handle(
        _ request: Request,
        context: SimulatorContext,
        next: @concurrent (Request, SimulatorContext) async throws -> Response
    ) async throws -> Response {
        let path = request.uri.path
        guard let fault = try await simulation.update({ state, _ in state.nextFault(for: path) }) else {
            return try await next(request, context)
        }
        if fault.delayInMilliseconds > 0 {
            try await Task.sleep(for: .milliseconds(fault.delayInMilliseconds))
        }
        var response: Response
        if let code = fault.status {
            let message = code == 429 ? "API rate limit exceeded" : "Service unavailable"
            response = try ErrorForm(path: path)
                .answer(HTTPResponse.Status(code: code), message, code: fault.error, from: request, context: context)
        } else {
            response = try await next(request, context)
        }
        if let retryAfter = fault.retryAfter { response.headers[.retryAfter] = retryAfter }
        guard let damage = fault.body else { return response }
        return try await response.damaged(damage, milliseconds: fault.bodyInMilliseconds)
    }
}

extension Response {
    /// The number of pieces of a slow body.
    private static let pieces = 20

    /// An answer without a body remains as it is.
    fileprivate func damaged(_ damage: Fault.Damage, milliseconds: Int) async throws -> Response {
        var damaged = self
        let whole = try await BodyCollector.bytes(of: body)
        guard whole.readableBytes > 0 else { return self }
        switch damage {
        case .empty:
            damaged.body = ResponseBody()
        case .notJSON:
            damaged.headers[.contentType] = "text/html; charset=utf-8"
            let page = "<!doctype html>\n<html lang=\"en\">\n<title>Bad gateway</title>\n</html>\n"
            damaged.body = ResponseBody(byteBuffer: ByteBuffer(string: page))
        case .truncated:
            let half = whole.getSlice(at: whole.readerIndex, length: whole.readableBytes / 2) ?? ByteBuffer()
            damaged.body = ResponseBody(contentLength: whole.readableBytes) { writer in
                try await writer.write(half)
                // An error after the header closes the connection.
                throw TruncatedBody()
            }
        case .slow:
            let length = max(1, whole.readableBytes / Self.pieces)
            let pause = Duration.milliseconds(milliseconds * length / whole.readableBytes)
            damaged.body = ResponseBody(contentLength: whole.readableBytes) { writer in
                var rest = whole
                while rest.readableBytes > 0, let piece = rest.readSlice(length: min(length, rest.readableBytes)) {
                    try await Task.sleep(for: pause)
                    try await writer.write(piece)
                }
                try await writer.finish(nil)
            }
        }
        return damaged
    }

    private struct TruncatedBody: Error {}
}

/// Receives the bytes of an answer's body.
private final class BodyCollector: ResponseBodyWriter, Sendable {
    private let buffer = Mutex(ByteBuffer())

    static func bytes(of body: ResponseBody) async throws -> ByteBuffer {
        let collector = BodyCollector()
        try await body.write(collector)
        return collector.buffer.withLock { $0 }
    }

    func write(_ bytes: ByteBuffer) async throws {
        buffer.withLock { _ = $0.writeImmutableBuffer(bytes) }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
