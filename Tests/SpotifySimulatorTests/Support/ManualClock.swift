import Foundation
import Synchronization

/// A clock that moves when the test says so.
final class ManualClock: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_790_000_000))

    var now: Date { date.withLock { $0 } }

    func advance(by interval: TimeInterval) {
        date.withLock { $0.addTimeInterval(interval) }
    }
}
