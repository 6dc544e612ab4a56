package import ArgumentParser
internal import Compose
internal import Navigation
internal import Support

package struct ListCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "List your projects that are running on this machine.",
        discussion: """
            segue ls
            segue ls --all --json
            """)

    @Flag(name: .shortAndLong, help: "List stopped projects, too.")
    var all = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    package init() {}

    private struct Row: Encodable {
        let project: String
        let state: String
        let instances: Int
        let bus: String
    }

    package func run() async throws {
        let rows = try Project.all().compactMap(Self.row).filter { all || $0.state != "stopped" }
        guard !json else {
            return try await Console.output.writeLines(rows.map { try JSONValue(encoding: $0).description })
        }
        var table = Table("PROJECT", "STATE", "INSTANCES", "BUS")
        for row in rows { table.append(row.project, row.state, String(row.instances), row.bus) }
        try await Console.output.writeLines(table.lines)
    }

    /// The row of a project. Nil if the project's status cannot be read; the other projects are still listed.
    private static func row(_ project: Project) -> Row? {
        guard let status = try? ProjectStatus.read(project) else { return nil }
        let alive = status.services.filter { $0.process?.isAlive ?? false }.count
        let isLeft = !status.isSupervisorAlive && alive > 0
        let state = isLeft ? "unsupervised" : status.isSupervisorAlive ? status.phase.rawValue : "stopped"
        return Row(project: project.name, state: state, instances: alive, bus: status.bus)
    }
}
