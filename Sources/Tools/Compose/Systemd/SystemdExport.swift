import Foundation
import Glibc
import Support
import SystemSupport

/// A stack as units of systemd: a service each for every process, and a target that starts and stops them together.
package struct SystemdExport: Sendable {
    let stack: Stack
    let name: String
    let manager: SystemdManager
    let project: Project
    /// By the names in `x-ports`. They are what they are from now on, not picked at each start.
    package let ports: [String: Int]
    /// Where the files will lie.
    let directory: String
    let lookup: ExecutableLookup
    let environment: [String: String]

    /// - Parameters:
    ///   - stack: those of its services that are to be started.
    ///   - ports: for names in `x-ports`; the others are picked, from those that are free now.
    ///   - directory: where the files will lie, absolute.
    ///   - executableDirectory: where bare command names are looked for before `PATH`.
    ///   - environment: whose `PATH` the services get.
    /// - Throws: ``ComposeError`` when systemd could not have a project of that name, or not in its folders.
    package init(
        stack: Stack, name: String, manager: SystemdManager, ports: [String: Int] = [:], directory: String,
        executableDirectory: String? = SupervisorOptions.runningExecutableDirectory,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ComposeError) {
        try stack.validate()
        guard !Self.takenTargets.contains(name) else {
            throw ComposeError(
                code: "target-taken", message: "\(name).target is a unit of systemd's own (systemd.special(7))",
                recovery: "use another name with -p")
        }
        self.stack = stack
        self.name = name
        self.manager = manager
        self.directory = directory
        self.environment = environment
        project = try manager.project(name, environment: environment)
        lookup = ExecutableLookup(executableDirectory: executableDirectory)
        let missing = stack.ports.filter { ports[$0] == nil }
        self.ports = ports.merging(try LoopbackPorts.pick(for: missing)) { given, _ in given }
        try checkPorts(given: ports)
        try project.checkSocketPaths(services: [])
    }

    /// The target that starts all.
    var target: String { "\(name).target" }

    /// What a person types to start all, now and whenever the manager starts.
    package var startCommand: String {
        "\(manager.systemctl) daemon-reload && \(manager.systemctl) enable --now \(target)"
    }

    /// - Throws: ``ComposeError``, if a service's executable or folder cannot be found, or systemd has no way to do what
    ///   it asks for.
    package func files() throws(ComposeError) -> [SystemdFile] {
        var files: [SystemdFile] = [targetFile]
        for service in stack.services {
            for (index, instance) in service.instances.enumerated() {
                let unit = try SystemdService(service: service, instance: instance, replica: index + 1, export: self)
                files += try unit.files()
            }
        }
        return files
    }

    /// What a project's name cannot tell from another one's: it has no dot, so the first one ends it.
    func unit(of instance: String) -> String { "\(name).\(instance).service" }

    func units(of service: String) -> [String] {
        stack.services.first { $0.name == service }?.instances.map(unit) ?? []
    }

    private var targetFile: SystemdFile {
        let all = stack.services.flatMap { units(of: $0.name) }.joined(separator: " ")
        return SystemdFile(
            unit: target,
            [
                ("Unit", [("Description", "All services of \(name)"), ("Wants", all)]),
                ("Install", [("WantedBy", manager.bootTarget)]),
            ])
    }

    private func checkPorts(given: [String: Int]) throws(ComposeError) {
        guard let unknown = given.keys.sorted().first(where: { !stack.ports.contains($0) }) else { return }
        let near = Spelling.suggestion(for: unknown, among: stack.ports)
        throw ComposeError(code: "unknown-port", message: "'x-ports' has no '\(unknown)'", recovery: near)
    }

    private static let takenTargets: Set = [
        "basic", "boot-complete", "default", "emergency", "exit", "final", "getty", "graphical", "halt", "hibernate",
        "kexec", "local-fs", "machines", "multi-user", "network", "network-online", "nss-lookup", "paths", "poweroff",
        "printer", "reboot", "remote-fs", "rescue", "rpcbind", "runlevel0", "runlevel1", "runlevel2", "runlevel3",
        "runlevel4", "runlevel5", "runlevel6", "shutdown", "sigpwr", "sleep", "slices", "smartcard", "sockets", "sound",
        "suspend", "swap", "sysinit", "system-update", "time-set", "time-sync", "timers", "umount", "usb-gadget",
    ]
}

/// A file that makes systemd start a stack, or a part of it.
package struct SystemdFile: Sendable, Equatable {
    package let name: String
    package let text: String
    /// It holds the values of a service's variables: nobody but its owner may read it.
    package let isSecret: Bool

    init(name: String, text: String, isSecret: Bool = false) {
        self.name = name
        self.text = text
        self.isSecret = isSecret
    }

    /// A unit file.
    init(unit name: String, _ sections: [(name: String, lines: [(String, String)])]) {
        let texts = sections.filter { !$0.lines.isEmpty }.map { section in
            "[\(section.name)]\n" + section.lines.map { "\($0)=\($1)\n" }.joined()
        }
        self.init(name: name, text: "# Made by 'segue export systemd'.\n\n" + texts.joined(separator: "\n"))
    }

    /// Puts files into a folder, in the place of those of the same names.
    ///
    /// - Throws: ``ComposeError`` `export-write`.
    package static func write(_ files: [SystemdFile], to directory: String) throws(ComposeError) {
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw failure("make the folder \(directory)", String(cString: strerror(errno)))
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
        ComposeError(code: "export-write", message: "cannot \(what): \(reason)", recovery: "name another with -o")
    }
}
