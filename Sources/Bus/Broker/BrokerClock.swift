internal import Foundation

/// The time of day that goes on evenly: a wall clock that is set while the broker runs must not age the journal, and one that
/// was set back before it started must not make its times go backwards.
package struct BrokerClock {
    private let start: ContinuousClock.Instant
    private let wall: Double

    /// - Parameter wall: what the wall clock says at `start`, in milliseconds since 1970, with their fraction: whole ones
    ///   would make every time too early.
    package init(start: ContinuousClock.Instant, wall: Double = Date().timeIntervalSince1970 * 1000) {
        self.start = start
        self.wall = wall
    }

    /// The same clock, put forward if it is behind a time.
    func notBefore(_ time: Int64, at instant: ContinuousClock.Instant) -> BrokerClock {
        self.time(at: instant) < time ? BrokerClock(start: instant, wall: Double(time)) : self
    }

    /// Milliseconds since 1970.
    func time(at instant: ContinuousClock.Instant) -> Int64 {
        Int64(wall + (instant - start) / .milliseconds(1))
    }
}
