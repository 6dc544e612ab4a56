import TestSupport
import Testing

@testable import Compose

@Suite("docs/compose-keys.md")
struct ComposeKeysPageTests {
    @Test("The page lists the keys of compose files, the variables of services, and what the specification has besides")
    func page() throws {
        let page = GeneratedPage("docs/compose-keys.md", ComposeKeysPage.text)
        #expect(try page.isWritten(), "'make pages' writes it anew")
    }

    @Test("Each key that the reader knows has a row, and no other key", arguments: KeySection.all)
    func keys(section: KeySection) {
        #expect(section.rows.map(\.key).sorted() == section.keys.known.sorted())
    }

    @Test("Each variable that the supervisor sets has a row")
    func variables() {
        let names = OfferedVariables.fixedNames.union(
            OfferedVariables.notificationVariables.subtracting(["WATCHDOG_PID"])
        )
        .union([ProcessTag.variable])
        #expect(names.subtracting(ComposeKeysPage.variables.map(\.name)) == [])
    }
}

/// The page of all keys of compose files.
enum ComposeKeysPage {
    static let variables: [(name: String, meaning: String)] = [
        ("SEGUE_BUS", "The address of the bus."),
        ("SEGUE_BUS_CURVE", "With `x-keys`: the path of the service's key file."),
        ("SEGUE_PROJECT", "The name of the project."),
        ("SEGUE_STATE_DIR", "A folder that is kept."),
        ("SEGUE_SERVICE", "The name of the service."),
        ("SEGUE_REPLICA", "The number of the process within its service: 1, 2, …"),
        ("SEGUE_PORT_NAME", "The free port for each name in `x-ports`."),
        ("NOTIFY_SOCKET", "The socket for `READY=1`, `STATUS=…` and `WATCHDOG=1`, as in sd_notify(3)."),
        ("WATCHDOG_USEC", "The time of `x-watchdog`, as in sd_watchdog_enabled(3)."),
        (
            "SEGUE_MARK",
            "Marks all processes that the service starts, which end with it. A process that removes the variable and "
                + "leaves the session may continue."
        ),
    ]

    static var text: String {
        """
        # Keys of compose files

        `make pages` writes this page from the keys that `segue` reads. They mean the same as in the
        [compose specification](https://compose-spec.io), if nothing else is said. Keys that begin with `x-` are
        Segue's; others that begin so are ignored. [Running](running.md) has examples.

        \(KeySection.all.map(\.text).joined(separator: "\n"))
        ## Variables of a service

        A service inherits the variables of the `segue up` that started the project, and gets these:

        \(GeneratedPage.table(["Variable", "Meaning"], variables.map { ["`\($0.name)`", $0.meaning] }))

        A project that starts with the variable `SEGUE_OWNER_PID` stops when the process with this id, such as a test
        suite, has ended.

        ## Keys that are refused

        \(GeneratedPage.table(["In", "Key", "Instead"], KeySection.all.flatMap(\.refused)))

        """
    }
}

/// The keys of one kind of mapping.
struct KeySection: CustomTestStringConvertible {
    let title: String
    let keys: ComposeKeys
    /// The key, the form of its value, and what it means.
    let rows: [(key: String, form: String, meaning: String)]

    var testDescription: String { title }

    var text: String {
        """
        ## \(title)

        \(GeneratedPage.table(["Key", "Value", "Meaning"], rows.map { ["`\($0.key)`", $0.form, $0.meaning] }))

        """
    }

    /// The rows of the refused keys, those with the same advice in one row.
    var refused: [[String]] {
        Dictionary(grouping: keys.containersOnly.merging(keys.unsupported) { first, _ in first }, by: \.value)
            .map { advice, keys in
                [title, keys.map(\.key).sorted().map { "`\($0)`" }.joined(separator: ", "), advice]
            }
            .sorted { $0[1] < $1[1] }
    }

    static let all = [
        KeySection(
            title: "The file", keys: .root,
            rows: [
                ("name", "text", "The name of the project; the default is the name of the folder."),
                ("services", "names: a service", "The processes."),
                ("include", "list of files", "Other compose files, with the services of the project."),
                (
                    "x-ports", "list of names",
                    "Picks a free loopback port for each name: `SEGUE_PORT_API` for `api`, in services and in the file."
                ),
                (
                    "x-bus", "address",
                    "The address of a bus that is not the project's own, such as `nats://127.0.0.1:${SEGUE_PORT_NATS}`. "
                        + "`segue -p` finds it while the project runs."
                ),
                (
                    "x-keys", "folder",
                    "The keys of the bus. A service gets the path of its own as `SEGUE_BUS_CURVE`, and no inherited "
                        + "`SEGUE_BUS_NKEY` and `SEGUE_BUS_CREDS`; `segue` and `device` use `operator.key`."
                ),
                (
                    "x-clients", "list of commands",
                    "Programs that users start, such as `device --platform ios`; they are asked for the app's contract."
                ),
            ]),
        KeySection(
            title: "A service", keys: .service,
            rows: [
                (
                    "command", "text or list",
                    "The program and its arguments. A bare name is searched for beside the executable `segue`, then in "
                        + "`PATH`. No shell is started."
                ),
                ("entrypoint", "text or list", "Words before those of `command`."),
                (
                    "working_dir", "folder",
                    "The default is the folder of the first file, or an included service's `project_directory`."
                ),
                ("environment", "names: text, or list", "Variables. A name without a value is passed on from yours."),
                ("env_file", "file, or list", "Files of variables, which `environment` overrides."),
                (
                    "depends_on", "names: a dependency, or list",
                    "Services that start before this one, and end after it."
                ),
                ("healthcheck", "a health check", "When the service is ready, and when it is unhealthy."),
                (
                    "restart", "`no`, `always`, `on-failure`, `on-failure:N`, `unless-stopped`",
                    "When an ended process is restarted. `on-failure` does not restart after the statuses 77 and 78."
                ),
                ("deploy", "a deployment", "The number of processes, and the pauses between restarts."),
                ("scale", "0 to 1000", "The number of processes."),
                ("stop_signal", "name or number", "The first signal of a stop; the default is `SIGTERM`."),
                ("stop_grace_period", "duration", "The time from this signal to `SIGKILL`; the default is 10s."),
                ("profiles", "list of names", "The service runs only if one of them is active, or it is named."),
                ("labels", "names: text, or list", "Text for other programs, such as `segue.contract: none`."),
                ("extends", "name, or an extension", "Keys of another service, which those of this one override."),
                (
                    "develop", "`watch`: list",
                    "`segue up -d` restarts the service if a path in `watch` has changed."
                ),
                (
                    "x-watchdog", "duration",
                    "The time after which a service that sends no `WATCHDOG=1` hangs, and is restarted."
                ),
                ("x-unset", "list of names", "Variables that the service does not inherit."),
            ]),
        KeySection(
            title: "An included file", keys: .include,
            rows: [
                ("path", "file, or list", "The files; later ones override earlier ones."),
                ("project_directory", "folder", "Where relative paths in them begin."),
                ("env_file", "file, or list", "Variables for them."),
            ]),
        KeySection(
            title: "An extension", keys: .extends,
            rows: [
                ("service", "name", "The service whose keys are used."),
                ("file", "file", "The file that has it; the default is this one."),
            ]),
        KeySection(
            title: "An env file", keys: .envFile,
            rows: [
                ("path", "file", "The file."),
                ("required", "`true` or `false`", "If `false`, the file may be missing."),
                ("format", "`raw`", "Values are used as they are written, without quotes and variables."),
            ]),
        KeySection(
            title: "A dependency", keys: .dependency,
            rows: [
                (
                    "condition", Dependency.Condition.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", "),
                    "The state of the other service that this one waits for; the default is the first."
                ),
                ("required", "`true` or `false`", "If `false`, the other service need not take part."),
                ("restart", "`true` or `false`", "If `true`, a restart of the other one restarts this one."),
            ]),
        KeySection(
            title: "A health check", keys: .healthcheck,
            rows: [
                (
                    "test", "text or list",
                    "`[CMD, executable, argument …]`, `[CMD-SHELL, command]` or a text: the command ends with 0. "
                        + "`[HTTP, 'http://HOST:PORT/PATH']`: an answer from 200 to 399. `[TCP, 'HOST:PORT']`: accepts a "
                        + "connection. `[NOTIFY]`: the service sends `READY=1`. `[NONE]`: no check."
                ),
                ("interval", "duration", "The time between two checks; the default is 30s."),
                ("timeout", "duration", "The time after which a check has failed; the default is 30s."),
                ("retries", "number", "The failures in a row that make the service unhealthy; the default is 3."),
                (
                    "start_period", "duration",
                    "The time in which failures do not count; the default is 0s. With `[NOTIFY]`, the time until "
                        + "`READY=1`; the default is 30s."
                ),
                ("start_interval", "duration", "The time between two checks in the start period; the default is 5s."),
                ("disable", "`true` or `false`", "The same as `test: [NONE]`."),
            ]),
        KeySection(
            title: "A deployment", keys: .deploy,
            rows: [
                ("replicas", "0 to 1000", "The same as `scale`."),
                ("restart_policy", "a restart policy", "Overrides `restart`."),
            ]),
        KeySection(
            title: "A restart policy", keys: .restartPolicy,
            rows: [
                ("condition", "`none`, `on-failure`, `any`", "When an ended process is restarted."),
                (
                    "delay", "duration",
                    "The pause before a restart. Without it and `x-max-delay`, it doubles from 100 ms to 10 s."
                ),
                ("max_attempts", "number", "The restarts after which the service has failed; the default is no limit."),
                ("window", "duration", "After a run of this length, restarts are counted from 0."),
                ("x-max-delay", "duration", "The `delay` doubles up to this value."),
            ]),
        KeySection(
            title: "Development", keys: .develop, rows: [("watch", "list of watched paths", "The paths that count.")]),
        KeySection(
            title: "A watched path", keys: .watch,
            rows: [
                ("path", "file or folder", "The path whose content counts."),
                ("action", "`restart`", "The service is restarted if it has changed."),
            ]),
    ]
}
