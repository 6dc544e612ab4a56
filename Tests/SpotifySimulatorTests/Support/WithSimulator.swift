import Foundation
import HTTPClient
import Logging
import SpotifyTestSupport
import Synchronization
@testable import SpotifySimulator

/// The catalogue that ships, so that these tests hold it to its promises too.
let shippedCatalogue = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "config/simulator/catalogue.yaml").path

extension Logger {
    static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
}

/// Runs a simulator, and stops it when the test is done.
func withSimulator<Result>(
    _ policy: TokenPolicy = TokenPolicy(), stateFile: String? = nil, clock: ManualClock = ManualClock(),
    _ test: (SpotifyClient) async throws -> Result
) async throws -> Result {
    try await ServerProcess.with { listening in
        try await SpotifySimulator(
            catalogue: Catalogue(contentsOf: shippedCatalogue),
            configuration: .init(tokenPolicy: policy, stateFile: stateFile), logger: .silent,
            now: { clock.now }, onReady: { listening($0) }
        ).run()
    } _: { base in
        try await HTTPClient.with { try await test(SpotifyClient(client: $0, base: base)) }
    }
}

/// A clock that moves when the test says so.
final class ManualClock: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_790_000_000))

    var now: Date { date.withLock { $0 } }

    func advance(by interval: TimeInterval) {
        date.withLock { $0.addTimeInterval(interval) }
    }
}
