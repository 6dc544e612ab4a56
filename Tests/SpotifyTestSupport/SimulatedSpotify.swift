package import Authorization
package import Foundation
package import HTTPClient
internal import HTTPOperations
internal import HTTPTypes
internal import Logging
package import SpotifyAPI
package import SpotifySimulator
internal import Synchronization
internal import TestSupport

/// The simulator over a real socket, with the actions of a person and an operator.
package struct SimulatedSpotify: Sendable {
    package static let redirectURI = "http://127.0.0.1:49152/callback"

    package let client: HTTPClient
    package let base: String

    package var accounts: SpotifyAccounts {
        SpotifyAccounts(
            clientID: "segue-focus-player", client: client, host: .local(base), policy: .impatient)
    }

    /// The path of the shipped catalogue.
    package static let catalogue = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "config/simulator/catalogue.yaml").path

    /// Runs a simulator while `body` runs.
    /// - Parameter now: returns the current time, which the simulator compares with the expiry times of tokens.
    package static func with<Result>(
        _ configuration: SpotifySimulator.Configuration = SpotifySimulator.Configuration(),
        now: @escaping @Sendable () -> Date = { Date() }, _ body: (SimulatedSpotify) async throws -> Result
    ) async throws -> Result {
        try await ListeningServer.with { listening in
            try await SpotifySimulator(
                catalogue: Catalogue(contentsOf: catalogue), configuration: configuration,
                logger: .silent, now: now, onReady: { listening($0) }
            ).run()
        } _: { base in
            try await HTTPClient.with { try await body(SimulatedSpotify(client: $0, base: base)) }
        }
    }

    /// Sends a request to a control route.
    package func control(_ path: String, _ form: String) async throws {
        let response = try await post("/_control/\(path)", form)
        guard response.status == .ok else { throw Unexpected(status: response.status.code) }
    }

    /// Answers the consent page as a browser does, with the fields of the URL and the pressed button.
    /// - Parameter account: the id of the chosen user. Nil for the first account.
    /// - Returns: the request to the redirect URI.
    package func decide(
        _ decision: String, as account: String? = nil, at url: String
    ) async throws -> AuthorizationCallback {
        let target = try await redirect(after: decision, as: account, at: url)
        guard let callback = AuthorizationCallback(target: target) else {
            throw Unexpected(status: 302)
        }
        return callback
    }

    /// - Returns: the URL to which the browser is redirected after the button was pressed.
    package func redirect(
        after decision: String, as account: String? = nil, at url: String
    ) async throws -> String {
        let query = url.split(separator: "?", maxSplits: 1).last ?? ""
        let choice = account.map { "&account=\($0)" } ?? ""
        let response = try await post("/authorize", "\(query)\(choice)&decision=\(decision)")
        guard let location = response.headers[.location] else {
            throw Unexpected(status: response.status.code)
        }
        return location
    }

    /// The number of refreshes that succeeded.
    package func refreshes() async throws -> Int {
        try await state().tokens.refreshes
    }

    /// The number of requests for what plays.
    package func playbackRequests() async throws -> Int {
        try await state().requests["GET /v1/me/player"] ?? 0
    }

    /// The number of requests by method and route.
    package func requests() async throws -> [String: Int] {
        try await state().requests
    }

    /// Waits until a route has been asked for, such as `GET /v1/playlists/{id}/items`.
    /// - Parameter times: The number of requests since the simulator started.
    package func isRequested(_ route: String, times: Int = 1) async throws {
        while try await state().requests[route, default: 0] < times { try Task.checkCancellation() }
    }

    private func state() async throws -> State {
        let response = try await send(HTTPClient.Request(.get, base + "/_control/state"))
        return try JSONDecoder().decode(State.self, from: response.body)
    }

    private struct State: Decodable {
        struct Tokens: Decodable {
            let refreshes: Int
        }
        let tokens: Tokens
        let requests: [String: Int]
    }

    private func post(_ path: String, _ form: String) async throws -> HTTPClient.Response {
        try await send(.post(form: form, to: base + path))
    }

    /// Sends a request of a person or an operator. The deadline of the app does not apply to it.
    package func send(_ request: HTTPClient.Request) async throws -> HTTPClient.Response {
        try await client.send(request, deadline: .seconds(30), maximumBody: 1 << 20)
    }

    package struct Unexpected: Error {
        package let status: Int
    }
}

extension BaseURL {
    /// The address of a server that runs in a test.
    package static func local(_ base: String) -> BaseURL {
        guard let url = try? BaseURL(base) else { preconditionFailure("the test's own server has no base URL") }
        return url
    }
}

extension RateLimitPolicy {
    /// A policy whose waits take no time: a wait moves the policy's own clock forward.
    package static var impatient: RateLimitPolicy { .impatient() }

    /// - Parameter waited: receives each wait.
    package static func impatient(
        waited: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) -> RateLimitPolicy {
        let clock = MovableClock()
        return RateLimitPolicy(
            longestWait: .seconds(5), attempts: 3, now: { clock.now },
            sleep: { duration in
                try await waited(duration)
                clock.advance(by: duration)
            })
    }
}

/// A clock that moves only when it is told to.
package final class MovableClock: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    package init() {}

    package var now: ContinuousClock.Instant { instant.withLock(\.self) }

    package func advance(by duration: Duration) {
        instant.withLock { $0 += duration }
    }
}
