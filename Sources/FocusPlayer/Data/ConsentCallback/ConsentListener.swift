package import Authorization
package import Contracts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
package import Logging
internal import NIOCore
internal import ServiceLifecycle

/// Listens on 127.0.0.1 for what the browser brings back from Spotify (RFC 8252 §7.3), and tells the person there what
/// came of it.
package struct ConsentListener: Sendable {
    private static let path = "callback"

    private let pendingPort: Int?
    private let logger: Logger
    private let answer: @Sendable (AuthorizationCallback) async throws -> ApplicationError?

    /// - Parameters:
    ///   - pendingRedirectURI: where an earlier incarnation listened that somebody may still be consenting for.
    ///   - logger: never hears of codes or states.
    ///   - answer: takes what the browser brings; gives back what to tell the person there, nil if all went well.
    package init(
        pendingRedirectURI: String?, logger: Logger,
        answer: @escaping @Sendable (AuthorizationCallback) async throws -> ApplicationError?
    ) {
        pendingPort = pendingRedirectURI.flatMap { URLComponents(string: $0)?.port }
        self.logger = logger
        self.answer = answer
    }

    /// Listens for as long as `body` runs.
    /// - Parameter body: gets the redirect URI; the browser can already be sent there.
    /// - Throws: what `body` throws, or why nobody can listen.
    package func whileListening(_ body: @escaping @Sendable (_ redirectURI: String) async throws -> Void) async throws {
        guard let pendingPort else { return try await listen(on: 0, body) }
        do {
            try await listen(on: pendingPort, body)
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            logger.warning("another process listens on port \(pendingPort): a consent that is under way will be lost")
            try await listen(on: 0, body)
        }
    }

    private func listen(on port: Int, _ body: @escaping @Sendable (String) async throws -> Void) async throws {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let server = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { listening.yield(port) }
            },
            logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { listening.finish() }
                try await server.run()
            }
            // None comes if the server ended before it listened: the group throws why.
            if let port = await ports.first(where: { _ in true }) {
                group.addTask { try await body("http://127.0.0.1:\(port)/\(Self.path)") }
            }
            try await group.next()
            // A server that is asked to stop still answers who is there; so it is left to end by itself.
            if !Task.isShuttingDownGracefully { group.cancelAll() }
            do { try await group.waitForAll() } catch is CancellationError where !Task.isCancelled {}
        }
    }

    private var router: Router<BasicRequestContext> {
        let router = Router()
        router.get("\(Self.path)") { request, _ in
            guard let callback = AuthorizationCallback(target: request.uri.string) else { throw HTTPError(.notFound) }
            return await page(for: callback).response
        }
        return router
    }

    private func page(for callback: AuthorizationCallback) async -> ConsentResultPage {
        do {
            return ConsentResultPage(failure: try await answer(callback))
        } catch {
            logger.error("the answer from the browser could not be taken: \(error)")
            return .interrupted
        }
    }
}

/// What a person sees in the browser after consenting, or not.
private struct ConsentResultPage {
    /// nil if the account is connected.
    let failure: ApplicationError?

    /// The service is stopping, or cannot use its files: nothing was lost, so the same answer may be brought again.
    static let interrupted = ConsentResultPage(
        failure: ApplicationError(
            code: "spotify.interrupted", message: "The answer could not be taken",
            recovery: "Reload this page in a moment."))

    /// The page's own address holds the code: nothing may keep the page or pass its address on.
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
        let advice = failure.map { $0.recovery ?? "" } ?? "The app goes on by itself."
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="referrer" content="no-referrer">
            <title>\(escape(title))</title>
            <h1>\(escape(title))</h1>
            <p>\(escape(advice))</p>
            <p>You may close this window.</p>
            </html>

            """
    }

    /// An error may quote what a server said.
    private func escape(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
