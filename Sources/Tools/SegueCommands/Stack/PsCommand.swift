package import ArgumentParser
internal import Compose
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

package struct PsCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "ps", abstract: "Tells how a project's services are.")

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, json
    }

    @OptionGroup var stack: StackOptions

    @Flag(name: .shortAndLong, help: "Those that have ended, or never were started, too.")
    var all = false

    @Option(help: ArgumentHelp("Only those in this state; may be given more than once.", valueName: "state"))
    var status: [ServiceStatus.State] = []

    @Option(help: "How to print them.")
    var format = Format.table

    @Flag(help: "One JSON object a line, as --format json.")
    var json = false

    @Flag(name: .customLong("services"), help: "Only the names of the services.")
    var namesOnly = false

    @Flag(name: .shortAndLong, help: "Only the numbers of the processes.")
    var quiet = false

    @Argument(help: "Only these services.", completion: .services)
    var services: [String] = []

    package init() {}

    package func run() async throws {
        let project = try stack.resolve()
        guard let current = try ProjectStatus.read(project) else { throw CommandError.neverStarted(project) }
        let rows = try current.instances(named: services, of: project).map {
            ServiceRow($0, isSupervised: current.isSupervisorAlive)
        }
        // Who asks for a state wants to see it.
        let wanted = rows.filter { status.isEmpty ? all || !$0.hasEnded : status.contains($0.state) }
        try await Console.output.writeLines(lines(wanted))
        if !current.isSupervisorAlive, rows.contains(where: { !$0.hasEnded }) {
            await Console.error.tell(
                "nobody supervises project '\(project.name)' any more; 'segue up' or 'segue down' ends these")
        }
    }

    private func lines(_ rows: [ServiceRow]) throws -> [String] {
        if quiet { return rows.compactMap { $0.pid.map(String.init) } }
        if namesOnly { return rows.map(\.service).reduce(into: []) { if $0.last != $1 { $0.append($1) } } }
        if json || format == .json { return try rows.map { try JSONValue(encoding: $0).description } }
        var table = Table("NAME", "STATE", "HEALTH", "PID", "RESTARTS", "UPTIME", "NOTE")
        for row in rows {
            table.append(
                row.name, row.state.rawValue, row.health?.rawValue ?? "-", row.pid.map(String.init) ?? "-",
                String(row.restarts), row.uptime(at: Date()) ?? "-", row.note ?? "")
        }
        return table.lines
    }
}

extension ServiceStatus.State: ExpressibleByArgument {}

/// One service in the list of `segue ps`.
struct ServiceRow: Encodable {
    let name: String
    let service: String
    let state: ServiceStatus.State
    let health: ServiceHealth.State?
    let pid: Int32?
    let exitCode: Int32?
    let signal: Int32?
    let restarts: Int
    let startedAt: String?
    let note: String?
    private let start: Date?
    /// Or was not wanted in the first place. For `segue ps` itself: a program has the state.
    let hasEnded: Bool

    private enum CodingKeys: String, CodingKey {
        case name, service, state, health, pid, exitCode, signal, restarts, startedAt, note
    }

    /// - Parameter isSupervised: whether what was written down still holds. If not, only the process itself tells.
    init(_ status: ServiceStatus, isSupervised: Bool) {
        let isAlive = status.process?.isAlive ?? false
        name = status.name
        service = status.service
        health = isAlive ? status.health?.state : nil
        state = isSupervised || isAlive || status.isFinished ? status.state : .exited
        pid = isAlive ? status.pid : nil
        exitCode = status.exitCode
        signal = status.signal
        restarts = status.restarts
        (startedAt, start) = (status.startedAt?.formatted(.iso8601), status.startedAt)
        hasEnded = state == .exited || state == .failed || (state == .created && !status.order.isWanted)
        let isOver = status.isFinished || status.state == .restarting
        let illness = isAlive ? status.health.flatMap { $0.state == .healthy ? nil : $0.reason } : nil
        note = (illness ?? status.message ?? (isOver ? status.ending : nil))?.printable
    }

    /// How long its process has been running.
    func uptime(at date: Date) -> String? {
        guard pid != nil, let start else { return nil }
        return Duration.seconds(date.timeIntervalSince(start)).unitsText
    }
}

extension ServiceStatus {
    /// How it is, in a few words.
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

    /// How its last run ended.
    var ending: String? {
        let because = fault.map { ": it \($0)" } ?? ""
        if let signal { return "was ended by \(StopSignal.name(of: signal))" + because }
        return exitCode.map { "exited with status \($0)" + because }
    }
}
