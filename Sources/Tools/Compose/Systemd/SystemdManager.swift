import Foundation
import Glibc
import Support

/// The systemd manager that starts the units. The folders of a stack's sockets and state depend on it.
package enum SystemdManager: Sendable, Equatable {
    /// The user's own manager.
    case user
    /// The machine's manager, which runs the services as this user.
    case system(user: String)

    /// The target that starts the stack's target at boot or login.
    var bootTarget: String {
        self == .user ? "default.target" : "multi-user.target"
    }

    var systemctl: String {
        self == .user ? "systemctl --user" : "systemctl"
    }

    /// A project with the folders that its units use.
    ///
    /// - Throws: ``ComposeError`` `invalid-project-name`.
    func project(_ name: String, environment: [String: String]) throws(ComposeError) -> Project {
        guard self == .user else {
            // Each project has its own folder in these roots.
            return try Project(name: "segue-\(name)", stateRoot: "/var/lib", runtimeRoot: "/run")
        }
        // The default for a user's manager, if the variable is not set where the units are made.
        let runtime = ["XDG_RUNTIME_DIR": "/run/user/\(getuid())"]
        return try Project(name: name, environment: environment.merging(runtime) { own, _ in own })
    }

    /// The lines that create the folders of a project, with mode 0700. The folders remain when a single unit ends.
    func directories(of project: Project) -> [(String, String)] {
        let mode = [("RuntimeDirectoryMode", "0700"), ("RuntimeDirectoryPreserve", "yes")]
        switch self {
        case .system:
            let state = [project.name, "\(project.name)/data"].joined(separator: " ")
            return [("RuntimeDirectory", project.name)] + mode + [
                ("StateDirectory", state), ("StateDirectoryMode", "0700"),
            ]
        case .user:
            let state = project.stateDirectory
            let folders = [(state as NSString).deletingLastPathComponent, state, project.dataDirectory]
            let command = (["/usr/bin/install", "-d", "-m", "0700"] + folders).map(SystemdText.argument)
            return [("RuntimeDirectory", "segue segue/\(project.name)")] + mode + [
                ("ExecStartPre", command.joined(separator: " "))
            ]
        }
    }

    /// The lines that restrict the rights of a service. Units for the machine's manager contain more of them.
    func hardening(workingDirectory: String) -> [(String, String)] {
        let usual = [
            ("UMask", "0077"), ("NoNewPrivileges", "yes"), ("LockPersonality", "yes"), ("RestrictRealtime", "yes"),
            ("RestrictSUIDSGID", "yes"), ("SystemCallArchitectures", "native"),
            ("RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6 AF_NETLINK"),
        ]
        guard case .system(let user) = self else { return usual }
        return [("User", user)] + usual + [
            ("CapabilityBoundingSet", ""), ("PrivateDevices", "yes"), ("PrivateTmp", "yes"), ("ProtectClock", "yes"),
            ("ProtectControlGroups", "yes"), ("ProtectHome", "read-only"), ("ProtectHostname", "yes"),
            ("ProtectKernelLogs", "yes"), ("ProtectKernelModules", "yes"), ("ProtectKernelTunables", "yes"),
            ("ProtectSystem", "strict"), ("ReadWritePaths", SystemdText.word(workingDirectory)),
        ]
    }
}
