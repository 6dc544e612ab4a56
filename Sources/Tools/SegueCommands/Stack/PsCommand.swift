package import ArgumentParser
internal import Compose
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

package struct PsCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "ps", abstract: "List a project's service instances, with their states.",
        discussion: """
            segue ps
            segue ps --all --json
            segue ps --status running --services

            The exit status is 1 if the project was never started.
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, json
    }

    @OptionGroup var stack: StackOptions

    @Flag(name: .shortAndLong, help: "List service instances that have ended or were never started, too.")
    var all = false

    @Option(help: ArgumentHelp("List only service instances in this state; may be repeated.", valueName: "state"))
    var status: [InstanceStatus.State] = []

    @Option(help: "The format of the list.")
    var format = Format.table

    @OptionGroup var output: OutputOptions

    @Flag(name: .customLong("services"), help: "Print only the names of the services.")
    var namesOnly = false

    @Flag(name: .shortAndLong, help: "Print only the process ids.")
    var quiet = false

    @Argument(help: "The services to list. (default: all)", completion: .services)
    var services: [String] = []

    package init() {}

    package func run() async throws {
        let project = try stack.resolve()
        guard let current = try ProjectStatus.read(project) else { throw CommandError.neverStarted(project) }
        let instances = try current.instances(named: services, of: project)
        let usage = await project.usage(of: instances)
        let rows = instances.map {
            ServiceRow($0, isSupervised: current.isSupervisorAlive, usage: usage[$0.name])
        }
        // With `--status`, only the given states select instances; `--all` has no effect.
        let wanted = rows.filter { status.isEmpty ? all || !$0.hasEnded : status.contains($0.state) }
        try await write(wanted)
        if !current.isSupervisorAlive, rows.contains(where: { !$0.hasEnded }) {
            await Console.error.tell(
                "project '\(project.name)' has no supervisor any more; 'segue up' or 'segue down' ends these processes")
        }
    }

    private func write(_ rows: [ServiceRow]) async throws {
        if quiet {
            try await Console.output.writeLines(rows.compactMap { $0.pid.map { "\($0)" } })
        } else if namesOnly {
            let names: [String] = rows.map(\.service).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
            try await Console.output.writeLines(names)
        } else {
            try await Console.output.writeList(rows, asJSON: output.json || format == .json)
        }
    }
}

extension InstanceStatus.State: ExpressibleByArgument {}

/// A service instance in the list of `segue ps`.
struct ServiceRow: Encodable, ListRow {
    let name: String
    let service: String
    let state: InstanceStatus.State
    /// Nil if the process is not alive or has no health check.
    let health: ServiceHealth.State?
    /// Nil if the process is not alive.
    let pid: Int32?
    /// The exit status of the last ended run since the last request to start the instance. Nil if no such run has
    /// ended, or if a signal ended that run.
    let exitCode: Int32?
    /// The signal that ended the last ended run since the last request to start the instance. Nil if no such run has
    /// ended, or if that run exited.
    let signal: Int32?
    let restarts: Int
    /// The start of the last run since the last request to start the instance, in ISO 8601. Nil if there was no such
    /// run.
    let startedAt: String?
    /// The processor time that its processes have used, in seconds. Nil if the process is not alive.
    let cpuSeconds: Double?
    /// The memory that its processes use, in bytes. Nil if the process is not alive.
    let memoryBytes: Int?
    /// The health problem, the service's status text, the reason for its failure, or the end of the last run. Nil if
    /// there is none of them.
    let note: String?
    /// The time of `startedAt`.
    private let start: Date?
    /// True if the instance has ended or failed, or if it is `created` and not to be started. The JSON does not contain
    /// this value.
    let hasEnded: Bool

    private enum CodingKeys: String, CodingKey {
        case name, service, state, health, pid, exitCode, signal, restarts, startedAt, cpuSeconds, memoryBytes, note
    }

    static var columns: [Column<ServiceRow>] {
        [
            Column(name: "NAME", cell: \.name),
            Column(name: "STATE", cell: \.state.rawValue),
            Column(name: "HEALTH") { $0.health?.rawValue ?? "-" },
            Column(name: "PID") { $0.pid.map { "\($0)" } ?? "-" },
            Column(name: "RESTARTS") { "\($0.restarts)" },
            Column(name: "UPTIME") { $0.uptime(at: Date()) ?? "-" },
            Column(name: "CPU") { $0.load(at: Date()) ?? "-" },
            Column(name: "MEMORY") { $0.memoryBytes.map(megabytes) ?? "-" },
            Column(name: "NOTE") { $0.note ?? "" },
        ]
    }

    /// - Parameters:
    ///   - isSupervised: true if the supervisor still updates the status. If false, an instance whose process is not
    ///     alive is listed as ended.
    ///   - usage: the resources that its processes use; nil if it has none.
    init(_ status: InstanceStatus, isSupervised: Bool, usage: ResourceUsage?) {
        let isAlive = status.process?.isAlive ?? false
        name = status.name
        service = status.service
        health = isAlive ? status.health?.state : nil
        let wasStarted = status.state != .created
        state = isSupervised || isAlive || status.isFinished || !wasStarted ? status.state : .exited
        pid = isAlive ? status.pid : nil
        exitCode = status.exitCode
        signal = status.signal
        restarts = status.restarts
        cpuSeconds = isAlive ? usage.map { $0.time / .seconds(1) } : nil
        memoryBytes = isAlive ? usage?.memory : nil
        (startedAt, start) = (status.startedAt.map(Timestamp.text(of:)), status.startedAt)
        hasEnded = status.isFinished || state == .exited || !wasStarted && !(isSupervised && status.order.isWanted)
        let isOver = status.isFinished || status.state == .restarting
        let illness = isAlive ? status.health.flatMap { $0.state == .healthy ? nil : $0.reason } : nil
        note =
            illness ?? status.message ?? (hasEnded && !wasStarted ? "was never started" : isOver ? status.ending : nil)
    }

    /// A size with one decimal, such as `12.5 MiB`.
    static func megabytes(_ bytes: Int) -> String {
        let tenths = (bytes * 10 + (1 << 19)) >> 20
        return "\(tenths / 10).\(tenths % 10) MiB"
    }

    /// The processor time as a percentage of the time for which the process has been running; it can be more than 100 %
    /// with several processors. Nil if the process is not running.
    func load(at date: Date) -> String? {
        guard let cpuSeconds, let start else { return nil }
        return "\(Int((100 * cpuSeconds / max(date.timeIntervalSince(start), 0.01)).rounded())) %"
    }

    /// The time for which the process has been running. Nil if the process is not running.
    func uptime(at date: Date) -> String? {
        guard pid != nil, let start else { return nil }
        return Duration.seconds(date.timeIntervalSince(start)).unitsText
    }
}

extension InstanceStatus {
    /// The predicate of a sentence about the instance's state.
    var summary: String {
        switch state {
        case .created: order.isWanted ? "waits to be started" : "is not started"
        case .starting: "is starting"
        case .ready: "is ready"
        case .running: "runs"
        case .restarting: "\(ending ?? "ended") and is started again"
        case .stopping: "is stopping"
        case .exited: ending ?? "has ended"
        case .failed: "failed"
        }
    }

    /// The predicate of a sentence about the end of the instance's last run. Nil if no run has ended.
    var ending: String? {
        let because = fault.map { ": it \($0)" } ?? ""
        if let signal { return "was ended by \(StopSignal.name(of: signal))" + because }
        return exitCode.map { "exited with status \($0)" + because }
    }
}
