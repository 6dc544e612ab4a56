package import ArgumentParser
internal import Compose

package struct ListCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "List your projects that are running on this machine.",
        discussion: """
            segue ls
            segue ls --all --json
            """)

    @Flag(name: .shortAndLong, help: "List stopped projects, too.")
    var all = false

    @OptionGroup var output: OutputOptions

    package init() {}

    private struct Row: Encodable, ListRow {
        let project: String
        let state: String
        let instances: Int
        let bus: String

        static var columns: [Column<Row>] {
            [
                Column(name: "PROJECT", cell: \.project), Column(name: "STATE", cell: \.state),
                Column(name: "INSTANCES") { "\($0.instances)" }, Column(name: "BUS", cell: \.bus),
            ]
        }
    }

    package func run() async throws {
        let rows = try Project.all().compactMap(Self.row).filter { all || $0.state != "stopped" }
        try await Console.output.writeList(rows, asJSON: output.json)
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
