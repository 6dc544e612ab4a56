import Foundation
import Testing

@testable import Compose

/// These tests run a separate systemd manager. They need the permission to create the namespaces that isolate it.
@Suite("Units in systemd", .enabled("needs the right to make namespaces") { await SystemdSession.isPossible })
struct SystemdStartTests {
    @Test("Exported services start in order with their variables, and stop", .timeLimit(.minutes(2)))
    func start() async throws {
        let scratch = try Scratch()
        // systemd looks up the process that sent a message, so that process must still exist.
        let notify = (Service.notify("READY=1").dropLast() + ";sleep 1000'").replacing("$", with: "$$")
            .replacing("\"", with: "\\\"")
        let stack = try readCompose(
            """
            x-ports: [web]
            services:
              store:
                command: [sh, -c, "test -d $$SEGUE_STATE_DIR && echo store >> order; exec \(notify)"]
                healthcheck: {test: [NOTIFY]}
                working_dir: \(scratch.path)
              setup:
                command: [sh, -c, 'echo "setup $$TOKEN" >> order']
                environment: {TOKEN: "a \\"b\\" $$c %h"}
                depends_on: {store: {condition: service_healthy}}
                working_dir: \(scratch.path)
              web:
                command: [sh, -c, 'echo "web $$0" >> order; touch ready; exec sleep 1000', "100% ; $SEGUE_PORT_WEB"]
                depends_on: {setup: {condition: service_completed_successfully}}
                healthcheck: {test: test -e ready, interval: 100ms}
                working_dir: \(scratch.path)
            """
        ).stack
        let environment = [
            "PATH": "/usr/bin:/bin", "HOME": scratch.path, "XDG_RUNTIME_DIR": "\(scratch.path)/run",
        ]
        let units = "\(scratch.path)/.config/systemd/user"
        let export = try SystemdExport(
            stack: stack, name: "demo", manager: .user, ports: ["web": 8123], directory: units,
            executableDirectory: nil, environment: environment)
        try SystemdFile.write(export.files(), to: units)
        let states = try await SystemdSession.run(
            """
            systemctl --user start demo.target || { cat $1/manager.log; systemctl --user status "demo*" --no-pager; }
            for unit in store setup web; do systemctl --user is-active demo.$unit || true; done
            systemctl --user stop demo.target
            # The target is stopped at once, and its services after it.
            for unit in store setup web; do
                while [ "$(systemctl --user is-active demo.$unit)" = deactivating ]; do sleep 0.1; done
                systemctl --user is-active demo.$unit || true
            done
            """, home: scratch.path)
        #expect(
            states.split(separator: "\n").suffix(6) == [
                "active", "active", "active", "inactive", "inactive", "inactive",
            ])
        #expect(try scratch.read("order") == "store\nsetup a \"b\" $c %h\nweb 100% ; 8123\n")
    }
}

enum SystemdSession {
    static var isPossible: Bool {
        get async { (try? await Shell.run(isolated("mount -t cgroup2 none /sys/fs/cgroup"))) != nil }
    }

    /// Runs a script with a systemd manager. `home` is the manager's home folder.
    static func run(_ script: String, home: String) async throws -> String {
        try await Shell.run(isolated(manager + script), home)
    }

    /// A command that runs a script in its own namespaces. When the script ends, the kernel ends all processes that are
    /// left in the namespaces.
    private static func isolated(_ script: String) -> String {
        "unshare --mount --cgroup --pid --fork bash -c '\(script)' bash \"$0\""
    }

    private static let manager = """
        set -eu
        umount -R /sys/fs/cgroup 2>/dev/null || true
        mount -t cgroup2 none /sys/fs/cgroup
        mount -t tmpfs none /run
        mkdir -p /run/systemd/system $1/run
        export HOME=$1 XDG_RUNTIME_DIR=$1/run SYSTEMD_LOG_TARGET=null
        unset XDG_CONFIG_HOME XDG_STATE_HOME DBUS_SESSION_BUS_ADDRESS
        /lib/systemd/systemd --user > $1/manager.log 2>&1 &
        until systemctl --user list-units > /dev/null 2>&1; do kill -0 $!; done

        """
}
