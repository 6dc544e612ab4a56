import CommandLineTestSupport
import Foundation
import Testing

@Suite("segue with a stack")
struct StackVerbTests {
    @Test("brings it up, tells how it is, and takes it down", .timeLimit(.minutes(1)))
    func upAndDown() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.broker)
            let up = try await segue("up", "-d", "--wait")
            #expect(up.status == 0)
            #expect(
                up.errorLines.last
                    == "segue: project 'demo' is up, its bus is ipc://\(segue.directory)/run/segue/demo/bus")

            let json = Data(try await segue("ps", "--format", "json").output.utf8)
            let keys = try #require(JSONSerialization.jsonObject(with: json) as? [String: Any]).keys
            #expect(keys.sorted() == ["name", "pid", "restarts", "service", "startedAt", "state"])
            let row = try JSONDecoder().decode(Row.self, from: json)
            #expect(row.service == "broker" && row.state == "ready" && row.restarts == 0)
            let again = try await segue("up", "-d")
            #expect(again.status == 0 && again.error.hasPrefix("segue: project 'demo' stays as it is"))
            let foreground = try await segue("up")
            #expect(foreground.status == 1 && foreground.error.contains("project 'demo' is already running (pid "))

            #expect(try await segue("down").error == "segue: project 'demo' is down\n")
            #expect(try await segue("ps").lines.count == 1)
            #expect(try await segue("ps", "-a").lines.last?.contains("exited with status 0") == true)
        }
    }

    @Test("runs beside another project from the same file, each with a bus of its own", .timeLimit(.minutes(1)))
    func twoProjects() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.broker)
            for project in ["one", "two"] { try await segue("up", "-d", "--wait", "-p", project) }
            try await segue("send", "document.Devices", "-p", "one")
            #expect(try await segue("get", "Devices", "--json", "-p", "one").output == "{}\n")
            #expect(try await segue("get", "Devices", "--json", "-p", "two").status == 1)
        }
    }

    @Test("says why a service did not start, with its last lines", .timeLimit(.minutes(1)))
    func failure() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.failing)
            let detached = try await segue("up", "-d", "--wait")
            #expect(detached.status == 1)
            #expect(detached.errorLines.suffix(2).first?.contains("service 'broken' exited with status 3") == true)
            #expect(detached.errorLines.last == "  | the disk is full")

            let foreground = try await segue("up")
            #expect(foreground.status == 1)
            #expect(foreground.output == "broken | the disk is full\n")
            #expect(foreground.errorLines.last?.contains("exited with status 3 before it was ready") == true)
        }
    }

    @Test(
        "fails when a process cannot be started, with service, file and line, also if nobody waits for it",
        .timeLimit(.minutes(1)),
        arguments: [
            ("command: no-such-thing", "3: service 'bad': no executable 'no-such-thing' in ", "build it"),
            ("command: ./text", "3: service 'bad': no executable './text' in ", "make it executable"),
            ("working_dir: nowhere\n    command: x", "3: service 'bad': there is no folder ", "create it"),
            ("entrypoint: ./broken\n    command: x", "3: service 'bad': cannot start './broken': ", "run it by hand"),
        ])
    func notStarted(entry: String, message: String, remedy: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write("not executable", to: "text")
            try segue.write("no format that the kernel knows", to: "broken")
            #expect(chmod(segue.directory + "/broken", 0o700) == 0)
            let good = "  good: { command: [sleep, '600'] }"
            let stack = "services:\n  bad:\n    \(entry)\n\(good)\n"
            try segue.write(stack)
            for way in [["up", "-d"], ["up"], ["up", "-d", "--wait"]] {
                let up = try await segue.run(way)
                #expect(up.status == 1, "\(way)")
                #expect(up.errorLines.last?.hasPrefix("segue: compose.yaml:\(message)") == true, "\(up.error)")
                #expect(up.errorLines.last?.contains("; \(remedy)") == true, "\(up.error)")
                #expect(try await segue("ps").lines.count == 1, "the others are stopped")
            }

            // If other services are already running, only the new service fails.
            try segue.write("services:\n\(good)")
            #expect(try await segue("up", "-d").status == 0)
            try segue.write(stack)
            let later = try await segue("up", "-d")
            #expect(later.status == 1)
            #expect(later.errorLines.last?.hasPrefix("segue: compose.yaml:\(message)") == true, "\(later.error)")
            #expect(try await segue("ps", "--services").lines == ["good"])
        }
    }

    @Test("in the background waits for those that others wait for, and for nobody else", .timeLimit(.minutes(1)))
    func launched() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.awaiting)
            #expect(mkfifo(segue.directory + "/go", 0o600) == 0)
            let up = try await segue.shell("segue up -d & echo > go; wait $!; echo \"status $?\"")
            #expect(up.lines == ["status 0"], "\(up.error)")
            let states = try await segue("ps", "-a", "--format", "json").lines.map {
                try JSONDecoder().decode(Row.self, from: Data($0.utf8)).state
            }
            #expect(states == ["starting", "exited", "running"])
        }
    }

    @Test("leaves nothing of a launcher that is killed", .timeLimit(.minutes(1)))
    func killedLauncher() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.slow)
            #expect(mkfifo(segue.directory + "/begun", 0o600) == 0)
            let killed = try await segue.shell(
                "segue up -d --wait & read line < begun; kill -9 $!; wait $!; ls state/segue/demo")
            let files = [
                "compose-file", "data", "events", "lock", "logs", "stack.yaml", "supervisor.json", "supervisor.log",
            ]
            #expect(killed.lines == files, "\(killed.error)")
        }
    }

    @Test("shows its logs, and stops it in order on Ctrl-C", .timeLimit(.minutes(1)))
    func foreground() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.talking)
            // After the lines of both services, the script interrupts its supervisor, as the terminal would.
            let up = try await segue.shell(
                """
                coproc segue up 2>err
                pid=$COPROC_PID
                exec 3<&"${COPROC[0]}"
                for n in 1 2 3; do IFS= read -r -u 3 line && echo "$line"; done | sort
                kill -INT $pid
                wait $pid
                echo "status $?"
                """)
            #expect(up.lines == ["one    | first", "one    | last", "second | other", "status 0"])
            let states = try String(contentsOfFile: segue.directory + "/err", encoding: .utf8)
            #expect(
                states.contains("segue: one is starting (pid ") && states.contains("segue: one was ended by SIGTERM\n"))

            #expect(try await segue("logs", "--no-log-prefix", "-n", "1", "one").output == "last\n")
            #expect(try await segue("logs", "second").output == "second | other\n")
            #expect(try await segue("logs", "third").error.contains("the known names are one, second"))
        }
    }

    @Test(
        "tells whom it waits for, and how long each took; on a terminal over and over in one line",
        .timeLimit(.minutes(1)))
    func progress() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.gated)
            // The test waits for the message about a service before it makes the next service ready, because only the
            // newest state is printed.
            let told = "told() { until grep -qF \"$1\" told; do sleep 0.02; done; }"
            let up = try await segue.shell(
                """
                \(told)
                segue up -d --wait -v 2>told &
                told 'waiting for first, second'; touch first
                told 'first is ready'; touch second
                wait $!; cat told
                """)
            let ready = #/segue: (first|second) is ready after \d+\.\d{3} s/#
            #expect(up.lines.contains("segue: waiting for first, second"))
            #expect(up.lines.filter { $0.wholeMatch(of: ready) != nil }.count == 2)
            #expect(up.lines.contains("first | hello"))
            #expect(up.lines.contains { $0.hasPrefix("segue: project 'checked' is up") })

            let terminal = try await segue.shell(
                """
                rm told first second
                \(told)
                TERM=xterm script -qefc 'segue up -d --wait -p two' told </dev/null >/dev/null &
                told 'waiting for first, second'; touch first
                told 'waiting for second'; touch second
                wait $!; cat told
                """)
            #expect(terminal.output.contains("\r\u{1B}[Kwaiting for first, second"))
            #expect(terminal.output.contains("\r\u{1B}[Kwaiting for second"))
            #expect(terminal.output.contains("\r\u{1B}[Ksegue: first is ready after "))
            #expect(!terminal.output.contains("hello"))
        }
    }

    @Test("finds what a killed supervisor left, says so, and ends it", .timeLimit(.minutes(1)))
    func leftovers() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.talking)
            try await segue("up", "-d", "--wait")
            let file = URL(fileURLWithPath: segue.directory + "/state/segue/talking/supervisor.json")
            let supervisor = try JSONDecoder().decode(Status.self, from: Data(contentsOf: file)).supervisor.pid
            #expect(kill(supervisor, SIGKILL) == 0)
            // If the supervisor's lock is free, the supervisor has ended. 'down' waits until the lock is free.
            let ps = try await segue.shell("while kill -0 \(supervisor) 2>/dev/null; do :; done; segue ps")
            #expect(ps.lines.count == 3)
            #expect(ps.error.contains("project 'talking' has no supervisor any more"))
            #expect(try await segue("down").error == "segue: project 'talking' is down\n")
            #expect(try await segue("ps").lines.count == 1)
        }
    }

    private struct Row: Decodable {
        let service: String
        let state: String
        let restarts: Int
    }

    private struct Status: Decodable {
        struct Supervisor: Decodable {
            let pid: Int32
        }

        let supervisor: Supervisor
    }
}

enum Stacks {
    /// A stack with only a broker.
    static let broker = """
        name: demo
        services:
          broker: {command: broker, healthcheck: {test: [NOTIFY]}}
        """

    /// A service that prints the reason why it cannot start.
    static let failing = """
        name: failing
        services:
          broken: {command: [sh, -c, "echo the disk is full; exit 3"], healthcheck: {test: [NOTIFY]}}
        """

    /// Two services; the second depends on the first. Each is ready when a file with its name exists.
    static let gated = """
        name: checked
        services:
          first:
            command: [sh, -c, "echo hello; exec sleep 600"]
            healthcheck: {test: [CMD, test, -e, first], interval: 20ms, retries: 100000}
          second:
            command: [sh, -c, "exec sleep 600"]
            healthcheck: {test: [CMD, test, -e, second], interval: 20ms, retries: 100000}
            depends_on: {first: {condition: service_healthy}}
        """

    /// Services that each write a line and keep running.
    static let talking = """
        name: talking
        services:
          one: {command: [sh, -c, "echo first; echo last; exec sleep 600"]}
          second: {command: [sh, -c, "echo other; exec sleep 600"]}
        """

    /// A service without a profile, and a service with a profile.
    static let profiled = """
        name: demo
        services:
          web: { command: [sleep, "600"] }
          debugger: { command: [sleep, "600"], profiles: [debug] }
        """

    /// A service that never becomes ready, and a service that depends on a job. The job waits for a line in `go`.
    static let awaiting = """
        name: demo
        services:
          slow: { command: [sleep, "600"], healthcheck: { test: [NOTIFY], start_period: 1h } }
          job: { command: [sh, -c, "read line < go"] }
          web: { command: [sleep, "600"], depends_on: { job: { condition: service_completed_successfully } } }
        """

    /// A service that creates the file `begun` when it starts, and never becomes ready.
    static let slow = """
        name: demo
        services:
          slow:
            command: [sh, -c, "echo > begun; exec sleep 600"]
            healthcheck: { test: [NOTIFY], start_period: 1h }
        """
}
