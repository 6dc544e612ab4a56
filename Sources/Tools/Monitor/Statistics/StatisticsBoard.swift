package import EventBus
internal import Foundation
internal import Synchronization

/// Statistics that several tasks write and read, from now on.
package final class StatisticsBoard: Sendable {
    private let start = ContinuousClock.now
    private let statistics = Mutex(MonitorStatistics(start: Date()))

    package init() {}

    package func note(_ message: Envelope) {
        let now = Date()
        statistics.withLock { $0.note(message, at: now) }
    }

    package func note(_ notice: MonitorNotice) {
        statistics.withLock { $0.note(notice) }
    }

    package func note(presence document: Envelope) {
        statistics.withLock { $0.note(presence: document) }
    }

    /// With the rates since the last report.
    package func report() -> StatisticsReport {
        let elapsed = ContinuousClock.now - start
        return statistics.withLock { $0.report(after: elapsed) }
    }

    /// With the rates of the whole time.
    package func summary() -> StatisticsReport {
        let elapsed = ContinuousClock.now - start
        return statistics.withLock { $0.summary(after: elapsed) }
    }
}
