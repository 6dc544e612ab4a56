package import ArgumentParser
internal import Compose
internal import Foundation

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
        try await print(rows.filter { status.isEmpty ? all || !$0.hasEnded : status.contains($0.state) })
        if !current.isSupervisorAlive, rows.contains(where: { !$0.hasEnded }) {
            await Console.error.tell(
                "nobody supervises project '\(project.name)' any more; 'segue up' or 'segue down' ends these")
        }
    }

    private func print(_ rows: [ServiceRow]) async throws {
        for line in try lines(rows) { try await Console.output.writeLine(line) }
    }

    private func lines(_ rows: [ServiceRow]) throws -> [String] {
        if quiet { return rows.compactMap { $0.pid.map(String.init) } }
        if namesOnly { return rows.map(\.service).reduce(into: []) { if $0.last != $1 { $0.append($1) } } }
        if json || format == .json { return try rows.map { try JSONLine.text($0) } }
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
