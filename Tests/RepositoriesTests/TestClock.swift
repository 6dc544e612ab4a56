import Foundation
import Synchronization

/// A clock that a test sets.
final class TestClock: Sendable {
    private let seconds = Mutex(1_000_000.0)

    var now: Date { Date(timeIntervalSince1970: seconds.withLock(\.self)) }

    func advance(by duration: Duration) {
        seconds.withLock { $0 += duration / .seconds(1) }
    }
}
