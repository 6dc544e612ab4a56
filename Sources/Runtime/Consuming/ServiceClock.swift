public import Foundation

/// The clocks of a process: the date, and the time that passes. A test may use clocks that it moves.
public struct ServiceClock: Sendable {
    /// The clocks of the system.
    public static let system = ServiceClock()

    /// Returns the current time.
    package let now: @Sendable () -> Date
    /// Measures the pauses between attempts.
    package let pauses: any Clock<Duration>
    /// The time since this value was created.
    package let elapsed: @Sendable () -> Duration
    /// Sleeps until ``elapsed`` has a value.
    package let sleepUntil: @Sendable (_ elapsed: Duration) async throws -> Void

    /// - Parameters:
    ///   - now: returns the current time. It is compared with the expiry times of commands and the times of timers.
    ///   - clock: measures delays, and the pauses between attempts.
    ///   - pauses: measures the pauses between attempts in place of `clock`.
    public init(
        now: @escaping @Sendable () -> Date = { Date() }, clock: any Clock<Duration> = ContinuousClock(),
        pauses: (any Clock<Duration>)? = nil
    ) {
        self.now = now
        self.pauses = pauses ?? clock
        (elapsed, sleepUntil) = Self.stopwatch(clock)
    }

    private static func stopwatch<C: Clock>(
        _ clock: C
    ) -> (@Sendable () -> Duration, @Sendable (Duration) async throws -> Void) where C.Duration == Duration {
        let start = clock.now
        return (
            { start.duration(to: clock.now) },
            { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        )
    }
}
