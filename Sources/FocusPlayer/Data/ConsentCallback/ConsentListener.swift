package import Authorization
package import Contracts
internal import Foundation
internal import HTTPOperations
internal import HTTPTypes
internal import Hummingbird
package import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import Support

/// Listens on 127.0.0.1 for the browser's answer from Spotify (RFC 8252 §7.3), and shows the person the result.
package struct ConsentListener: Sendable {
    private static let path = "callback"
    /// A browser needs one or two.
    private static let maximumConnections = 64

    private let pendingPort: Int?
    private let idleLimit: Duration
    private let logger: Logger
    private let answer: @Sendable (AuthorizationCallback) async throws -> ApplicationError?

    /// - Parameters:
    ///   - pendingRedirectURI: the redirect URI of an open request, at which an earlier process listened. Nil if there
    ///     is none.
    ///   - idleLimit: the time after which a connection is closed if its request does not arrive.
    ///   - logger: logs the messages of the server, and warnings and errors of the listener.
    ///   - answer: handles the answer, and returns the error to show in the browser. Nil if there is none.
    package init(
        pendingRedirectURI: String?, idleLimit: Duration = .seconds(10), logger: Logger,
        answer: @escaping @Sendable (AuthorizationCallback) async throws -> ApplicationError?
    ) {
        pendingPort = pendingRedirectURI.flatMap { URLComponents(string: $0)?.port }
        self.idleLimit = idleLimit
        self.logger = logger
        self.answer = answer
    }

    /// Listens while `body` runs.
    /// - Parameter body: receives the redirect URI. The browser can be sent to this address at once.
    /// - Throws: the error of `body`, or of listening.
    package func whileListening(_ body: @escaping @Sendable (_ redirectURI: String) async throws -> Void) async throws {
        guard let pendingPort else { return try await listen(on: 0, body) }
        do {
            try await listen(on: pendingPort, body)
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            logger.warning("another process listens on port \(pendingPort); the answer to an open request may be lost")
            try await listen(on: 0, body)
        }
    }

    private func listen(on port: Int, _ body: @escaping @Sendable (String) async throws -> Void) async throws {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        var limits = ConnectionLimits()
        (limits.count, limits.idle, limits.request) = (
            Self.maximumConnections, TimeAmount(idleLimit), TimeAmount(idleLimit)
        )
        let server = HTTPServer.application(
            router.buildResponder(), port: port, hosts: AllowedHosts(), limits: limits, logger: logger,
            refuse: { $0.response }, onListening: { listening.yield($0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { listening.finish() }
                try await server.run()
            }
            // There is no port if the server ended before it listened. The group then throws the server's error.
            if let port = await ports.first(where: { _ in true }) {
                group.addTask { try await body("http://127.0.0.1:\(port)/\(Self.path)") }
            }
            try await group.next()
            // A server that is asked to stop is not cancelled, so that it can answer open requests.
            if !Task.isShuttingDownGracefully { group.cancelAll() }
            do { try await group.waitForAll() } catch is CancellationError where !Task.isCancelled {}
        }
    }

    private var router: Router<PlainContext> {
        let router = Router(context: PlainContext.self, options: .autoGenerateHeadEndpoints)
        router.get("\(Self.path)") { request, _ in
            guard let callback = AuthorizationCallback(target: request.uri.string) else { throw HTTPError(.notFound) }
            return await page(for: callback).response
        }
        return router.add(middleware: MethodCheck([.get, .head].map { HTTPOperation($0, Self.path) }))
    }

    private func page(for callback: AuthorizationCallback) async -> ConsentResultPage {
        do {
            return ConsentResultPage(failure: try await answer(callback))
        } catch {
            logger.error("the answer from the browser could not be processed: \(error)")
            return .interrupted
        }
    }
}

/// The page that the browser shows after the consent or its refusal.
private struct ConsentResultPage {
    /// Nil if there is none; the page then says that the account is connected.
    let failure: ApplicationError?

    /// The page for an answer that could not be processed, for example because the service is stopping.
    static let interrupted = ConsentResultPage(
        failure: ApplicationError(
            code: "spotify.interrupted", message: "The answer could not be processed",
            recovery: "Reload this page in a moment."))

    /// The HTTP response. The address of the page contains the code, so the browser is told not to store the page.
    var response: Response {
        Response(
            status: failure == nil ? .ok : .badRequest,
            headers: [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                .contentSecurityPolicy: "default-src 'none'",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    private var html: String {
        let title = failure.map(\.message) ?? "Spotify is connected"
        let advice = failure.map { $0.recovery ?? "" } ?? "Go back to the app; it continues by itself."
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="referrer" content="no-referrer">
            <title>\(Escape.html(title))</title>
            <h1>\(Escape.html(title))</h1>
            <p>\(Escape.html(advice))</p>
            <p>You may close this window.</p>
            </html>

            """
    }
}
