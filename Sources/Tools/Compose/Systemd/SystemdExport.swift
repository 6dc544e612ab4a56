import Foundation
import Glibc
import Support
import SystemSupport

/// Converts a stack to units of systemd: a service for each instance, and a target that starts and stops all services
/// together.
package struct SystemdExport: Sendable {
    let stack: Stack
    let name: String
    let manager: SystemdManager
    let project: Project
    /// The ports by the names in `x-ports`. The units contain these ports, so the ports are the same at each start.
    package let ports: [String: Int]
    /// The folder that the files are written to.
    let directory: String
    let lookup: ExecutableLookup
    let environment: [String: String]

    /// - Parameters:
    ///   - stack: the stack, reduced to the services that are to be started.
    ///   - ports: the ports of some names in `x-ports`. For the other names, free ports are picked.
    ///   - directory: the absolute path of the folder that the units and the files of variables are written to.
    ///   - executableDirectory: the folder in which bare command names are searched for before `PATH`; nil for none.
    ///   - environment: contains the `PATH` that the services get.
    /// - Throws: ``ComposeError`` `invalid-stack`, `target-taken`, `invalid-project-name`, `no-port`, `unknown-port`,
    ///   `socket-path-too-long`.
    package init(
        stack: Stack, name: String, manager: SystemdManager, ports: [String: Int] = [:], directory: String,
        executableDirectory: String? = InstalledFiles.programFolder,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ComposeError) {
        try stack.validate()
        guard !Self.reservedTargets.contains(name) else {
            throw ComposeError(
                code: "target-taken", message: "systemd itself has a unit \(name).target (systemd.special(7))",
                recovery: "choose another project name with -p")
        }
        self.stack = stack
        self.name = name
        self.manager = manager
        self.directory = directory
        self.environment = environment
        project = try manager.project(name, environment: environment)
        lookup = ExecutableLookup(executableDirectory: executableDirectory)
        let missing = stack.ports.filter { ports[$0] == nil }
        self.ports = ports.merging(try LoopbackPort.pick(for: missing)) { given, _ in given }
        try checkPorts(given: ports)
        try project.checkSocketPaths(services: [])
    }

    /// The name of the target that starts all services.
    var target: String { "\(name).target" }

    /// The command that starts all services, now and whenever the manager starts.
    package var startCommand: String {
        "\(manager.systemctl) daemon-reload && \(manager.systemctl) enable --now \(target)"
    }

    /// The units, and the files with the services' variables.
    ///
    /// - Throws: ``ComposeError`` if a service's executable or folder cannot be found, or if systemd cannot set one of
    ///   its variables.
    package func files() throws(ComposeError) -> [SystemdFile] {
        var files = [try targetFile]
        for service in stack.services {
            for (index, instance) in service.instances.enumerated() {
                let unit = try SystemdService(service: service, instance: instance, replica: index + 1, export: self)
                files += try unit.files()
            }
        }
        return files
    }

    /// The name of an instance's unit.
    func unit(of instance: String) -> String { "\(name).\(instance).service" }

    func units(of service: String) -> [String] {
        stack.services.first { $0.name == service }?.instances.map(unit) ?? []
    }

    private var targetFile: SystemdFile {
        get throws(ComposeError) {
            let all = stack.services.flatMap { units(of: $0.name) }.joined(separator: " ")
            return try SystemdFile(
                unit: target,
                [
                    ("Unit", [("Description", "All services of \(name)"), ("Wants", all)]),
                    ("Install", [("WantedBy", manager.bootTarget)]),
                ])
        }
    }

    private func checkPorts(given: [String: Int]) throws(ComposeError) {
        guard let unknown = given.keys.sorted().first(where: { !stack.ports.contains($0) }) else { return }
        let near = Spelling.suggestion(for: unknown, among: stack.ports)
        throw ComposeError(code: "unknown-port", message: "'x-ports' has no port '\(unknown)'", recovery: near)
    }

    /// Names of systemd's own targets, without the suffix `.target`.
    private static let reservedTargets: Set = [
        "basic", "boot-complete", "default", "emergency", "exit", "final", "getty", "graphical", "halt", "hibernate",
        "kexec", "local-fs", "machines", "multi-user", "network", "network-online", "nss-lookup", "paths", "poweroff",
        "printer", "reboot", "remote-fs", "rescue", "rpcbind", "runlevel0", "runlevel1", "runlevel2", "runlevel3",
        "runlevel4", "runlevel5", "runlevel6", "shutdown", "sigpwr", "sleep", "slices", "smartcard", "sockets", "sound",
        "suspend", "swap", "sysinit", "system-update", "time-set", "time-sync", "timers", "umount", "usb-gadget",
    ]
}

/// A file of a stack for systemd: a unit, or the variables of a service.
package struct SystemdFile: Sendable, Equatable {
    package let name: String
    package let text: String
    /// True if the file contains the values of a service's variables. Only the owner may read such a file.
    package let isSecret: Bool

    init(name: String, text: String, isSecret: Bool = false) {
        self.name = name
        self.text = text
        self.isSecret = isSecret
    }

    /// A unit file with these sections. Sections without lines are left out.
    ///
    /// - Throws: ``ComposeError`` `systemd-line` if a value is not one line: the rest would be further settings.
    init(unit name: String, _ sections: [(name: String, lines: [(String, String)])]) throws(ComposeError) {
        for (key, value) in sections.flatMap(\.lines)
        where value.utf8.contains(where: { [0, 0x0A, 0x0D].contains($0) }) {
            throw ComposeError(
                code: "systemd-line", message: "the unit \(name): the value of \(key) is not one line",
                recovery: "remove the line break from the path or the value")
        }
        let texts = sections.filter { !$0.lines.isEmpty }.map { section in
            "[\(section.name)]\n" + section.lines.map { "\($0)=\($1)\n" }.joined()
        }
        self.init(name: name, text: "# Made by 'segue export systemd'.\n\n" + texts.joined(separator: "\n"))
    }

    /// Writes files to a folder, and replaces files of the same names.
    ///
    /// - Throws: ``ComposeError`` `export-write`.
    package static func write(_ files: [SystemdFile], to directory: String) throws(ComposeError) {
        do {
            // check-lines: all users can read units; the files with secrets have the mode 0600.
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw failure("create the folder \(directory)", String(cString: strerror(errno)))
        }
        for file in files {
            let path = "\(directory)/\(file.name)"
            do {
                try AtomicFile(path, mode: file.isSecret ? 0o600 : 0o644)
                    .replace(with: Data(file.text.utf8), isDurable: false)
            } catch {
                throw failure("write \(path)", error.reason)
            }
        }
    }

    private static func failure(_ what: String, _ reason: String) -> ComposeError {
        ComposeError(
            code: "export-write", message: "cannot \(what): \(reason)", recovery: "choose another folder with -o")
    }
}
