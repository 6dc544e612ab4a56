internal import Contracts
package import EventBus
package import Foundation

/// Counts what a monitor sees. It knows no clock: who asks says how late it is.
package struct MonitorStatistics: Sendable {
    /// Whoever publishes decides how many types there are; those beyond this count as one.
    static let capacity = 500

    private let start: Date
    private var types: [MessageType: TypeStatistics] = [:]
    private var others = TypeStatistics()
    private var services: [String: Document.Presence] = [:]
    private var discarded = 0
    private var lastReport = Duration.zero

    /// - Parameter start: when it begins; how long an older message took is not known.
    package init(start: Date) {
        self.start = start
    }

    /// - Parameter time: when it arrived.
    package mutating func note(_ message: Envelope, at time: Date) {
        let sent = message.attributes.time
        let latency = sent < start ? nil : Duration.seconds(time.timeIntervalSince(sent))
        change(message.type) { $0.note(size: message.data.count, latency: latency) }
        if message.type == DomainEvent.MessageDiscarded.type { discarded += 1 }
    }

    package mutating func note(_ notice: MonitorNotice) {
        switch notice {
        case .lost(.recovered(let type, let count)): change(type) { $0.recovered += count }
        case .lost(.removed(let type, let offset)):
            change(type) { $0.removedThrough = max($0.removedThrough ?? 0, offset) }
        case .discarded: discarded += 1
        }
    }

    /// - Parameter document: what a process says of itself; what calls itself so and is something else says nothing.
    package mutating func note(presence document: Envelope) {
        guard let key = document.attributes.key else { return }
        let presence = try? document.decode(Document.Presence.self)
        guard presence == nil || services[key] != nil || services.count < Self.capacity else { return }
        services[key] = presence
    }

    /// With the rates since the last report.
    /// - Parameter elapsed: since the beginning.
    package mutating func report(after elapsed: Duration) -> StatisticsReport {
        let seconds = (elapsed - lastReport) / .seconds(1)
        lastReport = elapsed
        var rows = types.keys.compactMap { types[$0]?.report($0.description, seconds: seconds) }
        if others.count > 0 { rows.append(others.report("others", seconds: seconds)) }
        return report(rows, seconds)
    }

    /// With the rates of the whole time.
    /// - Parameter elapsed: since the beginning.
    package func summary(after elapsed: Duration) -> StatisticsReport {
        let seconds = elapsed / .seconds(1)
        var rows = types.map { $1.summary($0.description, seconds: seconds) }
        if others.count > 0 { rows.append(others.summary("others", seconds: seconds)) }
        return report(rows, seconds)
    }

    private func report(_ rows: [StatisticsReport.OfType], _ seconds: Double) -> StatisticsReport {
        let services = services.values.map {
            StatisticsReport.OfService(
                service: $0.name, instance: $0.instance, handled: $0.handled, failed: $0.failed, lag: $0.lag)
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
