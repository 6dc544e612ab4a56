import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore

@testable import SpotifySimulator

/// The catalogue that ships, so that these tests hold it to its promises too.
let shippedCatalogue = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "config/simulator/catalogue.yaml").path

extension Logger {
    static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
}

/// Runs a simulator in process, without a socket.
func withSimulator(
    _ policy: TokenPolicy = TokenPolicy(),
    clock: ManualClock = ManualClock(),
    _ test: @escaping @Sendable (SpotifyClient) async throws -> Void
) async throws {
    let simulator = try SpotifySimulator(
        catalogue: Catalogue(contentsOf: shippedCatalogue),
        configuration: .init(tokenPolicy: policy),
        logger: .silent,
        now: { clock.now }
    )
    try await simulator.makeApplication().test(.router) { try await test(SpotifyClient($0)) }
}

extension SpotifyClient {
    /// Talks to the router in process.
    init(_ client: any TestClientProtocol) {
        send = { method, path, headers, body in
            let body = body.map { ByteBuffer(string: $0) }
            let response = try await client.executeRequest(uri: path, method: method, headers: headers, body: body)
            return Answer(response.head, body: response.body)
        }
    }

    /// Talks to a server over a socket.
    init(_ client: TestClient, authority: String) {
        send = { method, path, headers, body in
            let body = body.map { ByteBuffer(string: $0) }
            let request = TestClient.Request(path, method: method, authority: authority, headers: headers, body: body)
            let response = try await client.execute(request)
            return Answer(response.head, body: response.body)
        }
    }
}
