import AsyncHTTPClient
import Authorization
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import SpotifyAPI
import SpotifySimulator

/// The simulator over a real socket, and what a person or an operator would do to it.
struct SimulatedSpotify: Sendable {
    static let redirectURI = "http://127.0.0.1:49152/callback"

    let client: HTTPClient
    let base: String

    var accounts: SpotifyAccounts {
        SpotifyAccounts(
            clientID: "segue-focus-player", client: client, hosts: .all(at: base), policy: .impatient)
    }

    static func with(_ body: (SimulatedSpotify) async throws -> Void) async throws {
        let catalogue = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "config/simulator/catalogue.yaml")
        try await ServerProcess.with { listening in
            try await SpotifySimulator(
                catalogue: Catalogue(contentsOf: catalogue.path),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, onReady: { listening($0) }
            ).run()
        } _: { base in
            try await HTTPClient.withHTTPClient(configuration: .spotify) { client in
                try await body(SimulatedSpotify(client: client, base: base))
            }
        }
    }

    /// Orders something at `/_control/`.
    func control(_ path: String, _ form: String) async throws {
        let response = try await post("/_control/\(path)", form)
        guard response.status == .ok else { throw Unexpected(status: response.status.code) }
    }

    /// Answers the consent page as a browser does: the fields of the URL, and the button that was pressed.
    /// - Returns: what the redirect URI is called with.
    func decide(_ decision: String, at url: String) async throws -> AuthorizationCallback {
        let query = url.split(separator: "?", maxSplits: 1).last ?? ""
        let response = try await post("/authorize", "\(query)&decision=\(decision)")
        guard let location = response.headers.first(name: "location"),
            let callback = AuthorizationCallback(target: location)
        else { throw Unexpected(status: response.status.code) }
        return callback
    }

    private func post(_ path: String, _ form: String) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: base + path)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(Array(form.utf8))
        return try await client.execute(request, timeout: .seconds(30))
    }

    struct Unexpected: Error {
        let status: UInt
    }
}
