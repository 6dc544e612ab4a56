internal import Synchronization

/// The operations that are repeated because the servers do not answer, or not as they should. ``watch(_:)`` reports those
/// that last too long, so that no wait goes unreported.
package final class Waits: Sendable {
    private struct Wait {
        let start: ContinuousClock.Instant
        var reason: String
        var isReported = false
    }

    private struct State {
        var waits: [UInt64: Wait] = [:]
        var lastNumber: UInt64 = 0
        var hasReported = false
    }

    private let state = Mutex(State())

    package init() {}

    /// An operation, which has not failed yet. It must be ended on every path.
    package func operation() -> Operation {
        Operation(
            waits: self,
            number: state.withLock { state in
                state.lastNumber += 1
                return state.lastNumber
            })
    }

    /// An operation that may be repeated. One task uses it.
    package struct Operation {
        fileprivate let waits: Waits
        fileprivate let number: UInt64
        private var isWaiting = false

        fileprivate init(waits: Waits, number: UInt64) {
            self.waits = waits
            self.number = number
        }

        /// Records that the operation has failed, and waits to be repeated.
        package mutating func recordFailure(_ reason: String, at now: ContinuousClock.Instant = .now) {
            isWaiting = true
            waits.state.withLock { state in
                state.waits[number, default: Wait(start: now, reason: reason)].reason = reason
            }
        }

        /// Records that the operation has succeeded, or is given up.
        package mutating func end() {
            guard isWaiting else { return }
            isWaiting = false
            waits.state.withLock { _ = $0.waits.removeValue(forKey: number) }
        }
    }

    /// The lines to log now: for each reason, how many operations wait, and how long; and that none waits any more.
    /// - Parameter patience: The time after which a wait is reported.
    package func reports(at now: ContinuousClock.Instant, after patience: Duration) -> [String] {
        state.withLock { state in
            var overdue: [String: [Duration]] = [:]
            for (number, wait) in state.waits where !wait.isReported && now - wait.start >= patience {
                overdue[wait.reason, default: []].append(now - wait.start)
                state.waits[number]?.isReported = true
            }
            var lines = overdue.sorted { $0.key < $1.key }.map { reason, times in
                let operations =
                    times.count == 1 ? "an operation of the bus has" : "\(times.count) operations of the bus have"
                return "\(operations) waited for \(times.max()?.components.seconds ?? 0) s: \(reason)"
            }
            if state.hasReported, !state.waits.values.contains(where: \.isReported) {
                lines.append("no operation of the bus waits any more")
            }
            state.hasReported = state.waits.values.contains(where: \.isReported)
            return lines
        }
    }

    /// Passes the reports to `log`, each second, until the task is cancelled.
    package func watch(after patience: Duration, _ log: @Sendable (String) -> Void) async {
        while (try? await Task.sleep(for: .seconds(1))) != nil { reports(at: .now, after: patience).forEach(log) }
    }
}
