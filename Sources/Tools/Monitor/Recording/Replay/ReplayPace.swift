internal import EventBus
internal import Foundation

/// How fast a story is told again.
package enum ReplayPace: Hashable, Sendable {
    /// So many times as fast as it was.
    case speed(Double)
    /// As fast as those who answer.
    case fastest
    /// A message when it is asked for.
    case stepwise
}

/// The time that a story takes when it is told again.
struct ReplayClock {
    let pace: ReplayPace
    private var anchor: (recorded: Date, now: ContinuousClock.Instant)?

    init(_ pace: ReplayPace) {
        self.pace = pace
    }

    /// When a message of this time is due; nil for at once.
    mutating func instant(for time: Date) -> ContinuousClock.Instant? {
        guard case .speed(let speed) = pace else { return nil }
        guard let anchor else {
            anchor = (time, .now)
            return nil
        }
        let seconds = time.timeIntervalSince(anchor.recorded) / speed
        // Far beyond a hundred years the conversion would trap.
        return anchor.now + .seconds(min(max(seconds, -3e9), 3e9))
    }
}
