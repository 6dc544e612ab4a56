package import Contracts
package import EventBus
package import Foundation
internal import Synchronization

/// Counts the messages of a monitor. It does not read a clock; the caller passes the times.
package struct MonitorStatistics: Sendable {
    /// The maximum number of types that are counted separately, and the maximum number of processes that are listed.
    /// Further types are counted together as `others`; further processes are not listed.
    static let capacity = 500

    private let start: Date
    private var types: [MessageType: TypeStatistics] = [:]
    private var others = TypeStatistics()
    private var services: [String: (presence: Document.Presence, metrics: DomainEvent.MetricsReported?)] = [:]
    private var discarded = 0
    private var lastReport = Duration.zero

    /// - Parameter start: The time at which the statistics begin. Latencies of older messages are not recorded.
    package init(start: Date) {
        self.start = start
    }

    /// Counts a message.
    /// - Parameter time: The time at which the message arrived.
    package mutating func record(_ message: Envelope, at time: Date) {
        let sent = message.attributes.time
        let latency = sent < start ? nil : Duration.seconds(time.timeIntervalSince(sent))
        change(message.type) { $0.record(size: message.data.count, latency: latency) }
        if message.type == DomainEvent.MessageDiscarded.type { discarded += 1 }
    }

    package mutating func record(_ notice: MonitorNotice) {
        switch notice {
        case .lost(.recovered(let type, let count)): change(type) { $0.record(recovered: count) }
        case .lost(.removed(let type, let offset)):
            change(type) { $0.record(removedThrough: offset) }
        case .discarded: discarded += 1
        }
    }

    /// Lists a process. If the presence was withdrawn or cannot be decoded, the process is no longer listed.
    package mutating func apply(presence document: Envelope) {
        guard let key = document.attributes.key else { return }
        let presence = try? document.decode(Document.Presence.self)
        guard presence == nil || services[key] != nil || services.count < Self.capacity else { return }
        services[key] = presence.map { ($0, services[key]?.metrics) }
    }

    /// The instances of the listed processes.
    var instances: Set<String> { Set(services.values.map(\.presence.instance)) }

    /// Replaces the metrics of all listed processes.
    /// - Parameter reports: The reports, by instance. A process without a report has no metrics.
    package mutating func apply(metrics reports: [String: DomainEvent.MetricsReported]) {
        services = services.mapValues { ($0.presence, reports[$0.presence.instance]) }
    }

    /// The report with the rates since the last call of this method, or since the beginning.
    /// - Parameter elapsed: The time since the beginning.
    package mutating func report(after elapsed: Duration) -> StatisticsReport {
        let seconds = (elapsed - lastReport) / .seconds(1)
        lastReport = elapsed
        var rows = types.keys.compactMap { types[$0]?.report($0.description, seconds: seconds) }
        if others.count > 0 { rows.append(others.report("others", seconds: seconds)) }
        return report(rows, seconds)
    }

    /// The report with the rates since the beginning.
    /// - Parameter elapsed: The time since the beginning.
    package func summary(after elapsed: Duration) -> StatisticsReport {
        let seconds = elapsed / .seconds(1)
        var rows = types.map { $1.summary($0.description, seconds: seconds) }
        if others.count > 0 { rows.append(others.summary("others", seconds: seconds)) }
        return report(rows, seconds)
    }

    private func report(_ rows: [StatisticsReport.OfType], _ seconds: Double) -> StatisticsReport {
        let services = services.values.map { presence, metrics in
            StatisticsReport.OfService(
                service: presence.name, instance: presence.instance, handled: metrics?.handled, failed: metrics?.failed,
                lag: metrics?.lag)
        }
        return StatisticsReport(
            seconds: (seconds * 1000).rounded() / 1000,
            types: rows.sorted { ($1.rate, $1.count, $0.type) < ($0.rate, $0.count, $1.type) },
            services: services.sorted { ($0.service, $0.instance) < ($1.service, $1.instance) }, discarded: discarded)
    }

    private mutating func change(_ type: MessageType, _ change: (inout TypeStatistics) -> Void) {
        if types[type] != nil || types.count < Self.capacity {
            change(&types[type, default: TypeStatistics()])
        } else {
            change(&others)
        }
    }
}

/// Statistics that several tasks write and read. The statistics begin when the board is created.
package final class StatisticsBoard: Sendable {
    private let start = ContinuousClock.now
    private let statistics = Mutex(MonitorStatistics(start: Date()))

    package init() {}

    package func record(_ message: Envelope) {
        let now = Date()
        statistics.withLock { $0.record(message, at: now) }
    }

    package func record(_ notice: MonitorNotice) {
        statistics.withLock { $0.record(notice) }
    }

    package func apply(presence document: Envelope) {
        statistics.withLock { $0.apply(presence: document) }
    }

    package func apply(metrics reports: [String: DomainEvent.MetricsReported]) {
        statistics.withLock { $0.apply(metrics: reports) }
    }

    /// The instances of the listed processes.
    package var instances: Set<String> { statistics.withLock(\.instances) }

    /// The report with the rates since the last report.
    package func report() -> StatisticsReport {
        let elapsed = ContinuousClock.now - start
        return statistics.withLock { $0.report(after: elapsed) }
    }

    /// The report with the rates since the beginning.
    package func summary() -> StatisticsReport {
        let elapsed = ContinuousClock.now - start
        return statistics.withLock { $0.summary(after: elapsed) }
    }
}

/// The statistics of one message type.
struct TypeStatistics: Sendable {
    private(set) var count = 0
    /// The size of the messages' data, in bytes.
    private var bytes = 0
    /// The number of messages that did not arrive live and were read from the journal.
    private var recovered = 0
    /// The largest reported offset of a message that retention removed before it was read. Nil if there was none.
    private var removedThrough: UInt64?
    private var latency = LatencyHistogram()
    /// The values of `count` and `bytes` at the last report.
    private var reported = (count: 0, bytes: 0)

    mutating func record(size: Int, latency: Duration?) {
        count += 1
        bytes += size
        if let latency { self.latency.record(latency) }
    }

    mutating func record(recovered number: Int) {
        recovered += number
    }

    mutating func record(removedThrough offset: UInt64) {
        removedThrough = max(removedThrough ?? 0, offset)
    }

    /// - Parameter seconds: The time since the last report.
    mutating func report(_ type: String, seconds: Double) -> StatisticsReport.OfType {
        defer { reported = (count, bytes) }
        return report(type, count: count - reported.count, bytes: bytes - reported.bytes, seconds: seconds)
    }

    /// - Parameter seconds: The time since the beginning.
    func summary(_ type: String, seconds: Double) -> StatisticsReport.OfType {
        report(type, count: count, bytes: bytes, seconds: seconds)
    }

    private func report(_ type: String, count news: Int, bytes newBytes: Int, seconds: Double)
        -> StatisticsReport.OfType
    {
        let rate = { (number: Int) in seconds > 0 ? (Double(number) / seconds * 10).rounded() / 10 : 0 }
        let milliseconds = { (percent: Double) in
            latency.percentile(percent).map { ($0 / .milliseconds(1) * 1000).rounded() / 1000 }
        }
        return StatisticsReport.OfType(
            type: type, count: count, rate: rate(news), bytesPerSecond: rate(newBytes), p50: milliseconds(50),
            p99: milliseconds(99), recovered: recovered, removedThrough: removedThrough)
    }
}

/// The counts and rates of the messages of each type, and the progress of each process.
package struct StatisticsReport: Encodable, Hashable, Sendable {
    /// The counts and rates of the messages of one type.
    package struct OfType: Encodable, Hashable, Sendable {
        package let type: String
        /// The number of messages since the beginning.
        package let count: Int
        /// The number of messages per second.
        package let rate: Double
        /// The number of bytes of data per second.
        package let bytesPerSecond: Double
        /// The median of the times from publishing to arrival, in milliseconds. Nil if no message was published after
        /// the beginning.
        package let p50: Double?
        /// The 99th percentile of the times from publishing to arrival, in milliseconds. Nil if `p50` is nil.
        package let p99: Double?
        /// The number of messages that did not arrive live and were read from the journal.
        package let recovered: Int
        /// The largest reported offset of a message that retention removed before it was read. Nil if there was none.
        package let removedThrough: UInt64?
    }

    /// The progress of one process, from its metrics. All numbers are nil if it has not reported them in time.
    package struct OfService: Encodable, Hashable, Sendable {
        package let service: String
        package let instance: String
        package let handled: Int?
        package let failed: Int?
        package let lag: UInt64?
    }

    /// The report before any message has been counted.
    package static let empty = StatisticsReport(seconds: 0, types: [], services: [], discarded: 0)

    /// The length of the period of the rates, in seconds.
    package let seconds: Double
    /// The types, with the highest rate first.
    package let types: [OfType]
    package let services: [OfService]
    /// The number of messages since the beginning that a process could not use, for example because they had expired.
    package let discarded: Int
}
