import Foundation
import Glibc

/// Which systemd starts the units, and so where a stack keeps its sockets and its state.
package enum SystemdManager: Sendable, Equatable {
    /// The user's own. A project has the same folders as when `segue up` starts it.
    case user
    /// The machine's, with the services run as this user.
    case system(user: String)

    /// What a target is to be started with.
    var bootTarget: String {
        self == .user ? "default.target" : "multi-user.target"
    }

    var systemctl: String {
        self == .user ? "systemctl --user" : "systemctl"
    }

    /// - Throws: ``ComposeError`` when the name or a folder will not do.
    func project(_ name: String, environment: [String: String]) throws(ComposeError) -> Project {
        guard self == .user else {
            // A folder for each, as projects may belong to different users.
            return try Project(name: "segue-\(name)", stateRoot: "/var/lib", runtimeRoot: "/run")
        }
        // A user's manager always has its folder there, though whoever exports may have none.
        let runtime = ["XDG_RUNTIME_DIR": "/run/user/\(getuid())"]
        return try Project(name: name, environment: environment.merging(runtime) { own, _ in own })
    }

    /// The lines that make the folders of a project. All are 0700, and outlive each single unit.
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

    /// What a process that needs nothing special can do without. A user's manager cannot give a service a view of the
    /// file system of its own everywhere, so those settings are the system's alone.
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
