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

/// A real HTTP server that does not complete its answers.
final class FaultySpotify: Sendable {
    enum Fault: Sendable {
        /// Sends the head of each answer, and then one space after the other, without end.
        case endlessBody
        /// Answers the first request with tokens. Closes the connection of each other request without an answer.
        case closesAfterFirst
    }

    private struct Context: RequestContext {
        var coreContext: CoreRequestContextStorage
        let channel: any Channel

        init(source: ApplicationRequestContextSource) {
            coreContext = CoreRequestContextStorage(source: source)
            channel = source.channel
        }
    }

    private let fault: Fault
    private let count = Mutex(0)

    private init(_ fault: Fault) {
        self.fault = fault
    }

    /// The number of requests so far.
    var requests: Int { count.withLock(\.self) }

    /// - Parameter body: receives the server, a client for it, and its base URL.
    static func with(
        _ fault: Fault, body: (FaultySpotify, HTTPClient, BaseURL) async throws -> Void
    ) async throws {
        let server = FaultySpotify(fault)
        try await ListeningServer.with { listening in
            try await server.application(listening).run()
        } _: { base in
            try await HTTPClient.with { try await body(server, $0, .local(base)) }
        }
    }

    private func application(_ listening: @escaping @Sendable (Int) -> Void) -> some ApplicationProtocol {
        let router = Router(context: Context.self)
        for method in [HTTPRequest.Method.get, .post, .put] {
            router.on("**", method: method) { request, context in
                _ = try await request.body.collect(upTo: 1 << 20)
                return try await self.respond(context.channel)
            }
        }
        return Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { listening(port) }
            },
            logger: .silent)
    }

    private func respond(_ channel: any Channel) async throws -> Response {
        let number = count.withLock { count in
            count += 1
            return count
        }
        switch fault {
        case .endlessBody:
            return Response(
                status: .ok,
                body: ResponseBody { writer in
                    // The pause limits the size of the answer. The server ends when the client closes the connection.
                    while true {
                        try await writer.write(ByteBuffer(string: " "))
                        try await Task.sleep(for: .milliseconds(1))
                    }
                })
        case .closesAfterFirst:
            if number > 1 { try await channel.close() }
            let tokens = #"{"access_token":"a","refresh_token":"r","expires_in":60}"#
            return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: tokens)))
        }
    }
}
