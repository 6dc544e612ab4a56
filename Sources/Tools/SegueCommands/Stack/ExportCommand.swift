package import ArgumentParser
internal import Compose
internal import Foundation
internal import Support

package struct ExportCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Convert a stack for other programs.",
        discussion: "segue export systemd -o ~/.config/systemd/user",
        subcommands: [ExportSystemdCommand.self, ExportNATSPermissionsCommand.self])

    package init() {}
}

struct ExportSystemdCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "systemd", abstract: "Convert a stack to systemd units, one for each process.",
        discussion: """
            segue export systemd                                 prints the units
            segue export systemd -o ~/.config/systemd/user       for 'systemctl --user'
            segue export systemd --system --run-as web -o units  for the machine

            The paths of executables and the numbers of free ports are determined by this command. The values of a \
            service's variables are written to a file beside its unit. Only the file's owner can read it.
            """)

    @OptionGroup var files: ComposeFileOptions
    @OptionGroup var project: ProjectOptions

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "The folder for the units, such as ~/.config/systemd/user. (default: print the units)",
            valueName: "folder"))
    var output: String?

    @Flag(help: "Write units for 'systemctl --user', or for the machine's systemd.")
    var manager = Manager.user

    @Option(
        help: ArgumentHelp("With --system: the user that runs the services. (default: you)", valueName: "name"))
    var runAs: String?

    @Option(
        help: ArgumentHelp(
            "The port for a name in x-ports, such as web=8080. (default: a free port)", valueName: "name=number"))
    var port: [PortAssignment] = []

    @Argument(help: "The services to include, with their dependencies. (default: all)")
    var services: [String] = []

    enum Manager: String, EnumerableFlag {
        case user, system
    }

    func validate() throws {
        if runAs != nil, manager == .user { throw ValidationError("--run-as requires --system") }
    }

    func run() async throws {
        let sources = try files.sources()
        let project = try project.resolve(sources)
        let file = try await files.read(sources, project: project.name)
        let export = try SystemdExport(
            stack: files.stack(of: file, services: services), name: project.name,
            manager: manager == .user ? .user : .system(user: runAs ?? NSUserName()),
            ports: Dictionary(port.map { ($0.name, $0.port) }) { _, last in last }, directory: directory)
        let units = try await file.placing { try export.files() }
        guard output != nil else { return try await print(units) }
        try SystemdFile.write(units, to: directory)
        try await tell(of: export, count: units.count)
    }

    /// The absolute path of the units' folder; the current folder if the units are only printed.
    private var directory: String {
        URL(fileURLWithPath: output ?? ".").standardizedFileURL.path
    }

    private func print(_ files: [SystemdFile]) async throws {
        for file in files {
            // Secret values must not be kept in a terminal's history.
            let text = file.isSecret ? "# the service's variables, mode 0600; -o writes this file\n" : file.text
            try await Console.output.write("# \(file.name)\n\(text)\n")
        }
    }

    private func tell(of export: SystemdExport, count: Int) async throws {
        for (name, port) in export.ports.sorted(by: { $0.key < $1.key }) {
            await Console.error.tell("port '\(name)' is \(port); choose another port with --port \(name)=NUMBER")
        }
        await Console.error.tell("wrote \(count) files to \(directory); start them with '\(export.startCommand)'")
    }
}

/// A name in `x-ports` and its port, 1 to 65535, such as `web=8080`.
struct PortAssignment: ExpressibleByArgument, Sendable {
    let name: String
    let port: Int

    init?(argument: String) {
        let parts = argument.split(scalar: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let port = Int(parts[1]), (1...65_535).contains(port) else { return nil }
        name = String(parts[0])
        self.port = port
    }
}
