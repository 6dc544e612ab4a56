package import Contracts
package import EventBus
internal import Support
internal import Synchronization

/// Requests to processes for their metrics, and the reports that answer them.
///
/// Requests and reports are transient messages. The owner subscribes to ``reports``, and passes the messages to
/// ``handle(_:)``.
package final class MetricsRequests: Sendable {
    /// The time within which a process has to report.
    package static let patience: Duration = .seconds(1)
    package static let reports = MessageFilter.type(DomainEvent.MetricsReported.self)

    private struct Request {
        /// The instances of the processes that have not reported.
        var missing: Set<String>
        var reports: [String: DomainEvent.MetricsReported] = [:]
        /// Opened when no report is missing.
        let isAnswered: Latch
    }

    private struct State {
        var lastID = 0
        /// The requests under way, by id.
        var requests: [Int: Request] = [:]
    }

    private let bus: EventBus
    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    package init(bus: EventBus, clock: any Clock<Duration> = ContinuousClock()) {
        self.bus = bus
        self.clock = clock
    }

    /// Asks processes for their metrics, with a subscription for this request only.
    /// - Returns: The reports, by instance. A process that has not reported within ``patience`` has none.
    /// - Throws: ``BusError``; `CancellationError`.
    package static func ask(
        _ instances: Set<String>, on bus: EventBus, clock: any Clock<Duration> = ContinuousClock()
    ) async throws -> [String: DomainEvent.MetricsReported] {
        guard !instances.isEmpty else { return [:] }
        let requests = MetricsRequests(bus: bus, clock: clock)
        return try await bus.withSubscription(to: [reports], from: .now) { messages in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for try await message in messages { requests.handle(message) } }
                defer { group.cancelAll() }
                return try await requests.ask(instances)
            }
        }
    }

    /// Asks processes for their metrics.
    /// - Returns: The reports, by instance. A process that has not reported within ``patience`` has none.
    /// - Throws: ``BusError``; `CancellationError`.
    package func ask(_ instances: Set<String>) async throws -> [String: DomainEvent.MetricsReported] {
        guard !instances.isEmpty else { return [:] }
        let isAnswered = Latch()
        let id = state.withLock { state in
            state.lastID += 1
            state.requests[state.lastID] = Request(missing: instances, isAnswered: isAnswered)
            return state.lastID
        }
        defer { state.withLock { $0.requests[id] = nil } }
        _ = try await withTimeLimit(Self.patience, clock: clock) { [bus] in
            try await bus.publishTransient([Envelope(DomainEvent.MetricsRequested(), source: bus.source)])
            try await isAnswered.waitUntilOpen()
        }
        return state.withLock { $0.requests[id]?.reports ?? [:] }
    }

    /// Handles a message if it is a report. Reports of processes that no request waits for are ignored.
    package func handle(_ message: Envelope) {
        guard message.type == DomainEvent.MetricsReported.type,
            let report = try? message.decode(DomainEvent.MetricsReported.self)
        else { return }
        state.withLock { state in
            for id in state.requests.keys where state.requests[id]?.missing.remove(report.instance) != nil {
                state.requests[id]?.reports[report.instance] = report
                if state.requests[id]?.missing.isEmpty == true { state.requests[id]?.isAnswered.open() }
            }
        }
    }
}

extension Envelope {
    /// True if the message is a request for metrics or a report, as tools send them. Tools neither count nor list these
    /// messages unless they are asked for them: otherwise they would show their own traffic.
    package var isAboutMetrics: Bool {
        position == nil && [DomainEvent.MetricsRequested.type, DomainEvent.MetricsReported.type].contains(type)
    }
}
