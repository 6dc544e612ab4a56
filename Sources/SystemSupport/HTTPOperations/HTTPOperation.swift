package import HTTPTypes
package import Hummingbird
internal import Support

/// An operation of an HTTP server: a method and a path.
package struct HTTPOperation: Sendable, Hashable, CustomStringConvertible {
    package let method: HTTPRequest.Method
    /// The path. A segment in braces stands for any segment.
    package let path: String

    package init(_ method: HTTPRequest.Method, _ path: String) {
        self.method = method
        self.path = path
    }

    package var description: String { "\(method.rawValue) \(path)" }

    /// True if a request's path is one of this operation. Empty segments are ignored, as in Hummingbird's router.
    package func hasPath(_ requested: String) -> Bool {
        let (segments, requested) = (path.split(scalar: "/"), requested.split(scalar: "/"))
        return segments.count == requested.count
            && zip(segments, requested).allSatisfy { $0.begins(with: "{") || $0 == $1 }
    }
}

extension Sequence<HTTPOperation> {
    /// The names of the methods, in alphabetical order.
    package var methods: [String] { Set(map(\.method.rawValue)).sorted() }
}

/// Refuses requests whose path has only other methods, with the status 405 and the header `Allow` (RFC 9110 §15.5.6).
///
/// Add it to a router after all routes. It then receives only the requests that have no route.
package struct MethodCheck<Context: RequestContext>: RouterMiddleware {
    private let operations: [HTTPOperation]

    package init(_ operations: [HTTPOperation]) {
        self.operations = operations
    }

    package func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let allowed = operations.filter { $0.hasPath(request.uri.path) }.methods
        if allowed.isEmpty { return try await next(request, context) }
        throw HTTPError.methodNotAllowed(request.method, allowed: allowed)
    }
}

extension HTTPError {
    /// The error of a request whose path has only the methods in `allowed`.
    package static func methodNotAllowed(_ method: HTTPRequest.Method, allowed: [String]) -> HTTPError {
        let list = allowed.joined(separator: ", ")
        return HTTPError(
            .methodNotAllowed, headers: [.allow: list],
            message: "\(method.rawValue) is not allowed here; use \(list)")
    }
}
