package import ArgumentParser
internal import Compose
internal import Foundation

package struct ExportCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes a stack as other programs take it.",
        subcommands: [ExportSystemdCommand.self])

    package init() {}
}

struct ExportSystemdCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "systemd", abstract: "Writes a stack as systemd units, a service each for every process.",
        discussion: """
            Executables are looked up now, and ports picked now. The values of a service's variables go to a file that \
            only you may read, beside its unit. Without -o, the units are printed, and nothing is written.
            """)

    @OptionGroup var files: ComposeFileOptions
    @OptionGroup var project: ProjectOptions

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The folder to write to, such as ~/.config/systemd/user.", valueName: "folder"))
    var output: String?

    @Flag(help: "For your own manager, 'systemctl --user' (the default), or for the machine's.")
    var manager = Manager.user

    @Option(
        help: ArgumentHelp("With --system, the user that the services run as; you, unless said.", valueName: "name"))
    var runAs: String?

    @Option(help: ArgumentHelp("The port for a name in x-ports, instead of a free one.", valueName: "name=number"))
    var port: [PortAssignment] = []

    @Argument(help: "Only these services, and what they depend on.")
    var services: [String] = []

    enum Manager: String, EnumerableFlag {
        case user, system
    }

    func validate() throws {
        if runAs != nil, manager == .user { throw ValidationError("--run-as goes with --system only") }
    }

    func run() async throws {
        let file = try await files.read()
        let project = try project.resolve(files: files.paths(), environmentFiles: files.envFile)
        let export = try SystemdExport(
            stack: files.stack(of: file, services: services), name: project.name,
            manager: manager == .user ? .user : .system(user: runAs ?? NSUserName()),
            ports: Dictionary(port.map { ($0.name, $0.port) }) { _, last in last }, directory: directory)
        let units = try await file.placing { try export.files() }
        guard output != nil else { return try await print(units) }
        try SystemdFile.write(units, to: directory)
        try await tell(of: export, count: units.count)
    }

    /// Where the files are to lie: for those that are only printed, here.
    private var directory: String {
        URL(fileURLWithPath: output ?? ".").standardizedFileURL.path
    }

    private func print(_ files: [SystemdFile]) async throws {
        for file in files {
            // What is secret stays so in a terminal's history.
            let text = file.isSecret ? "# variables of the service, mode 0600; written with -o\n" : file.text
            try await Console.output.write("# \(file.name)\n\(text)\n")
        }
    }

    private func tell(of export: SystemdExport, count: Int) async throws {
        for (name, port) in export.ports.sorted(by: { $0.key < $1.key }) {
            await Console.error.tell("port '\(name)' is \(port) from now on; choose another one with --port")
        }
        await Console.error.tell("wrote \(count) files to \(directory); start them with '\(export.startCommand)'")
    }
}

/// `NAME=NUMBER`
struct PortAssignment: ExpressibleByArgument, Sendable {
    let name: String
    let port: Int

    init?(argument: String) {
        let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let port = Int(parts[1]), (1...65_535).contains(port) else { return nil }
        name = String(parts[0])
        self.port = port
    }
}
