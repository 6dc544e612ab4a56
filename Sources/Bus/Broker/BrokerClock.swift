internal import Foundation

/// The time of day that goes on evenly: a wall clock that is set while the broker runs must not age the journal.
package struct BrokerClock {
    private let start: ContinuousClock.Instant
    private let wall: Int64

    /// - Parameter wall: what the wall clock says at `start`, in milliseconds since 1970.
    package init(start: ContinuousClock.Instant, wall: Int64 = Int64(Date().timeIntervalSince1970 * 1000)) {
        self.start = start
        self.wall = wall
    }

    /// Milliseconds since 1970.
    func time(at instant: ContinuousClock.Instant) -> Int64 {
        wall + Int64((instant - start) / .milliseconds(1))
    }
}
