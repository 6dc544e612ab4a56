internal import Contracts
internal import EventBus
internal import Foundation
internal import Monitor
internal import Support

/// The processes, flows and numbers of messages on the bus, from the messages that the gateway has received.
struct ProcessFigures: Sendable {
    /// The number of seconds of a rate.
    static let seconds = 300
    /// The maximum number of processes that have gone and are still listed.
    private static let goneLimit = 100
    /// The maximum number of types that are counted. Messages of further types are only counted by kind.
    private static let typeLimit = 5000
    /// The maximum number of codes of errors that are counted, and the maximum size of such a code in bytes.
    private static let (codeLimit, codeSizeLimit) = (500, 100)

    private struct Process {
        var presence: Document.Presence
        /// The time of the first presence, or of the withdrawal.
        var since: Date
        var isGone = false
        /// Nil if the process has not reported them in time.
        var metrics: DomainEvent.MetricsReported?
    }

    private var processes: [String: Process] = [:]
    private var names = CoordinatorNames()
    private var flows: [String: Document.Flow] = [:]
    private var sessions: Set<String> = [Session.default]
    /// The numbers of messages since the gateway has started.
    private(set) var types: [MessageType: Int] = [:]
    private(set) var kinds: [MessageKind: Int] = [:]
    /// The numbers of errors since the gateway has started, by code.
    private(set) var errors: [String: Int] = [:]
    /// The numbers of messages of the current second.
    private var current: [MessageKind: Int] = [:]
    private var rates: [MessageKind: [Int]] = [:]

    /// Counts a message, and records what it says about processes and flows.
    mutating func record(_ message: Envelope) {
        kinds[message.type.kind, default: 0] += 1
        current[message.type.kind, default: 0] += 1
        if types.count < Self.typeLimit || types[message.type] != nil { types[message.type, default: 0] += 1 }
        if message.type.kind == .document { applyDocument(message) }
        if message.type == ApplicationError.type { recordError(message) }
    }

    private mutating func recordError(_ message: Envelope) {
        guard let code = try? message.decode(ApplicationError.self).code, code.utf8.count <= Self.codeSizeLimit,
            errors.count < Self.codeLimit || errors[code] != nil
        else { return }
        errors[code, default: 0] += 1
    }

    /// Applies a document that was published before the gateway began to count.
    mutating func applyDocument(_ message: Envelope) {
        switch message.type {
        case Document.Presence.type: applyPresence(message)
        case Document.Flow.type:
            guard let platform = message.attributes.key else { return }
            flows[platform] = message.isTombstone ? nil : try? message.decode(Document.Flow.self)
            names.record(message)
        case Document.NavigationState.type where sessions.count < 1000: sessions.insert(message.subject)
        default: break
        }
    }

    private mutating func applyPresence(_ message: Envelope) {
        guard let key = message.attributes.key else { return }
        if message.isTombstone {
            processes[key]?.isGone = true
            processes[key]?.since = message.attributes.time
            let gone = processes.filter(\.value.isGone).sorted { $0.value.since < $1.value.since }
            for process in gone.dropLast(Self.goneLimit) { processes[process.key] = nil }
        } else if let presence = try? message.decode(Document.Presence.self) {
            let known = processes[key].flatMap { $0.isGone ? nil : $0 }
            processes[key] = Process(
                presence: presence, since: known?.since ?? message.attributes.time, metrics: known?.metrics)
        }
    }

    /// The instances of the running processes.
    var instances: Set<String> { Set(processes.values.filter { !$0.isGone }.map(\.presence.instance)) }

    /// Replaces the metrics of the running processes.
    /// - Parameter reports: The reports, by instance. A process without a report has no metrics.
    mutating func setMetrics(_ reports: [String: DomainEvent.MetricsReported]) {
        for (key, process) in processes where !process.isGone {
            processes[key]?.metrics = reports[process.presence.instance]
        }
    }

    /// Begins the next second.
    mutating func endSecond() {
        for kind in MessageKind.allCases {
            var rate = rates[kind] ?? Array(repeating: 0, count: Self.seconds)
            rate.removeFirst()
            rate.append(current[kind] ?? 0)
            rates[kind] = rate
        }
        current = [:]
    }

    // MARK: For the page

    /// The values of a view of kind `processes`, in JSON.
    func values(dead: Int?) -> [(key: String, value: [UInt8])] {
        let values: [(String, JSONValue)] = [
            ("processes", .array(sorted.map(json))), ("rates", ratesJSON), ("dead", dead.map { .integer($0) } ?? .null),
        ]
        return values.map { ($0, Array($1.description.utf8)) }
    }

    var flowsJSON: JSONValue {
        .array(
            flows.values.sorted { $0.platform < $1.platform }.map { flow in
                [
                    "platform": .string(flow.platform), "name": .string(flow.name), "version": .integer(flow.version),
                ]
            })
    }

    var sessionsJSON: JSONValue { .array(sessions.sorted().map(JSONValue.string)) }

    /// The app of the flows, or nil if there is none or several.
    var app: String? {
        let names = Set(flows.values.map(\.name))
        return names.count == 1 ? names.first : nil
    }

    /// The presences of the running processes.
    var running: [(presence: Document.Presence, label: String)] {
        sorted.filter { !$0.isGone }.map { ($0.presence, label(of: $0) ?? $0.presence.name) }
    }

    private var sorted: [Process] {
        processes.values.sorted { ($0.presence.name, $0.presence.instance) < ($1.presence.name, $1.presence.instance) }
    }

    /// The name with the platform. Nil for a process that is not a coordinator.
    private func label(of process: Process) -> String? {
        let name = names.name(of: process.presence.name, instance: process.presence.instance)
        return name == process.presence.name ? nil : name
    }

    private func json(_ process: Process) -> JSONValue {
        func number(_ value: Int?) -> JSONValue { value.map(JSONValue.integer) ?? .null }
        let presence = process.presence
        return [
            "name": .string(presence.name), "label": label(of: process).map(JSONValue.string) ?? .null,
            "instance": .string(presence.instance), "version": .string(presence.version),
            "pid": .integer(Int(presence.pid)), "state": process.isGone ? "gone" : "present",
            "since": .string(Timestamp.text(of: process.since)), "handled": number(process.metrics?.handled),
            "failed": number(process.metrics?.failed), "lag": number(process.metrics.map { Int(clamping: $0.lag) }),
            "receives": .array(presence.receives.map(JSONValue.string)),
            "sends": .array(presence.sends.map(JSONValue.string)),
        ]
    }

    private var ratesJSON: JSONValue {
        let empty = Array(repeating: 0, count: Self.seconds)
        let kinds = MessageKind.allCases.filter { $0 != .query }
        let all = kinds.map { ($0.rawValue, rates[$0] ?? empty) }
        let total = all.reduce(empty) { sum, rate in zip(sum, rate.1).map(+) }
        return .object(
            Dictionary(
                (all + [("total", total)]).map { ($0.0, JSONValue.array($0.1.map { .integer($0) })) }
            ) { $1 })
    }
}
