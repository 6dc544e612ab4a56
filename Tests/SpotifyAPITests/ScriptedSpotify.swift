import HTTPClient
import HTTPOperations
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SpotifyAPI
import SpotifyTestSupport
import Synchronization
import TestSupport

/// A real HTTP server with prepared answers.
final class ScriptedSpotify: Sendable {
    struct Request: Sendable {
        let line: String
        let authorization: String?
        let body: String
    }

    struct Answer: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var body = "{}"
    }

    private let requests = Mutex<[Request]>([])
    private let answers: Mutex<[Answer]>
    private let respond = Mutex<(@Sendable (Request) async throws -> Answer)?>(nil)

    /// - Parameter answers: the answers in the order of the requests. The last answer is repeated.
    private init(_ answers: [Answer]) {
        self.answers = Mutex(answers)
    }

    var received: [Request] { requests.withLock(\.self) }

    /// Replaces the next answers, for answers that contain the server's own address.
    func answer(_ next: Answer...) {
        answers.withLock { $0 = next }
    }

    /// Computes all further answers.
    func answer(_ respond: @escaping @Sendable (Request) async throws -> Answer) {
        self.respond.withLock { $0 = respond }
    }

    /// - Parameter body: receives the server, a client for it, and its base URL.
    static func with(
        _ answers: Answer..., body: (ScriptedSpotify, HTTPClient, BaseURL) async throws -> Void
    ) async throws {
        let server = ScriptedSpotify(answers)
        try await ListeningServer.with { listening in
            try await server.application(listening).run()
        } _: { base in
            try await HTTPClient.with { client in
                try await body(server, client, .local(base))
            }
        }
    }

    private func application(_ listening: @escaping @Sendable (Int) -> Void) -> some ApplicationProtocol {
        let router = Router()
        for method in [HTTPRequest.Method.get, .post, .put] {
            router.on("**", method: method) { request, _ in try await self.respond(to: request) }
        }
        return Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { listening(port) }
            },
            logger: .silent)
    }

    private func respond(to request: Hummingbird.Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 20)
        let received = Request(
            line: "\(request.method) \(request.uri)", authorization: request.headers[.authorization],
            body: String(buffer: body))
        requests.withLock { $0.append(received) }
        let answer =
            if let respond = respond.withLock(\.self) {
                try await respond(received)
            } else {
                answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? Answer() }
            }
        var headers = HTTPFields()
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return Response(
            status: .init(code: answer.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: answer.body)))
    }
}
