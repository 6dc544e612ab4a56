import CommandLineTestSupport
import Foundation
import SignIn
import Testing

@Suite("Verbs with a stack")
struct StackVerbTests {
    @Test("'segue up', 'ps' and 'down' start a stack, show it, and stop it", .timeLimit(.minutes(1)))
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
            #expect(
                keys.sorted() == [
                    "cpuSeconds", "memoryBytes", "name", "pid", "restarts", "service", "startedAt", "state",
                ])
            let row = try JSONDecoder().decode(Row.self, from: json)
            #expect(row.service == "broker" && row.state == "ready" && row.restarts == 0)
            let open = try await segue("open", "--address")
            #expect(open.error.contains("; add a service to the compose file, 'web: { command: web-gateway }'"))
            let again = try await segue("up", "-d")
            #expect(again.status == 0 && again.error.hasPrefix("segue: project 'demo' stays as it is"))
            let foreground = try await segue("up")
            #expect(foreground.status == 1 && foreground.error.contains("project 'demo' is already running (pid "))

            #expect(try await segue("down").error == "segue: project 'demo' is down\n")
            #expect(try await segue("ps").lines.count == 1)
            #expect(try await segue("ps", "-a").lines.last?.contains("exited with status 0") == true)
        }
    }

    @Test("'segue open --session' makes a link to this session, and says which")
    func openSession() async throws {
        try await SegueCommandLine.inScratch { segue in
            let folder = PageFolder("\(segue.directory)/web")
            let key = try folder.makeKey()
            try folder.store(PageFolder.Address(url: "http://127.0.0.1:1234", stack: "shop", pid: getpid()))
            func access(_ text: String) throws -> PageAccess? {
                let link = try #require(text.firstMatch(of: #/sign-in\?link=([A-Za-z0-9._-]+)/#)).1
                return SignedToken(
                    String(link), for: .link, stack: "shop", key: key, lifetime: SignedToken.linkLifetime)?.access
            }
            let session = try await segue("open", "--state", folder.path, "--session", "anna b", "--link")
            #expect(try access(session.output) == .session("anna b"))
            #expect(try access(try await segue("open", "--state", folder.path, "--link").output) == .operator)

            let opened = try await segue(
                "open", "--state", folder.path, "--session", "anna b", "--open", "cp -t \(segue.directory)")
            #expect(
                opened.lines == ["http://127.0.0.1:1234", "The browser is signed in to the session 'anna b' only."])
            let file = try #require(
                FileManager.default.contentsOfDirectory(atPath: segue.directory).first { $0.hasPrefix("open-shop") })
            let page = try String(contentsOfFile: "\(segue.directory)/\(file)", encoding: .utf8)
            #expect(page.contains("the session 'anna b'"))
            #expect(try access(page) == .session("anna b"))

            for refused in [["--session", ""], ["--session", "a\u{7}"], ["--session", "a", "--address"]] {
                let result = try await segue.run(["open", "--state", folder.path] + refused)
                #expect(result.status == 64 && result.output.isEmpty, "\(refused)")
            }
        }
    }

    @Test("Two projects from one file run beside each other, each with its own bus", .timeLimit(.minutes(1)))
    func twoProjects() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.broker)
            for project in ["one", "two"] { try await segue("up", "-d", "--wait", "-p", project) }
            try await segue("send", "document.Devices", "-p", "one")
            #expect(try await segue("get", "Devices", "--json", "-p", "one").output == "{}\n")
            #expect(try await segue("get", "Devices", "--json", "-p", "two").status == 1)
        }
    }

    @Test(
        "'segue up' ends with the process that the environment names, even if that is killed", .timeLimit(.minutes(1)))
    func owner() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.broker)
            let script = """
                sleep 1000 & export SEGUE_OWNER_PID=$!
                segue up -d --wait && kill -9 $SEGUE_OWNER_PID
                segue wait broker
                segue ps -a
                """
            let result = try await segue.shell(script)
            #expect(result.lines.last?.contains("exited with status 0") == true, "\(result)")
        }
    }

    @Test("'segue up' ends if another process has the id that the environment names", .timeLimit(.minutes(1)))
    func formerOwner() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.broker)
            let result = try await segue.shell(#"SEGUE_OWNER_PID="$$ 1" segue up"#)
            #expect(result.status == 0, "\(result)")
        }
    }

    @Test("'segue up' reports why a service did not start, with its last lines", .timeLimit(.minutes(1)))
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
        "'segue up' reports a process that cannot be started with service, file and line, even without --wait",
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

    @Test("'segue up --wait' fails when a service ends with a failure, and only then", .timeLimit(.minutes(1)))
    func endsBadly() async throws {
        try await SegueCommandLine.inScratch { segue in
            let good = "services:\n  good: {command: [sleep, '600']}\n  job: {command: [sh, -c, 'exit 0']}\n"
            let bad = good + "  bad: {command: [sh, -c, 'echo no; exit 3']}\n"
            try segue.write(bad, to: "bad.yaml")
            let up = try await segue("up", "-d", "--wait", "-f", "bad.yaml", "-p", "bad")
            #expect(up.status == 1, "\(up.error)")
            let told = "segue: service 'bad' exited with status 3; see 'segue logs bad'"
            #expect(up.errorLines.suffix(2) == [told, "  | no"], "\(up.error)")
            #expect(try await segue("ps", "-p", "bad", "--services").lines.isEmpty, "a failed start leaves nothing")

            try segue.write(good)
            let well = try await segue("up", "-d", "--wait", "-p", "good")
            #expect(well.status == 0, "\(well.error)")
            // A project that runs is not stopped because of a new service.
            try segue.write(bad)
            let later = try await segue("up", "-d", "--wait", "-p", "good")
            #expect(later.status == 1 && later.errorLines.contains(told), "\(later.error)")
            #expect(try await segue("ps", "-p", "good", "--services").lines == ["good"])
        }
    }

    @Test(
        "A service that was never started is reported, and two processes with one name are refused",
        .timeLimit(.minutes(1)))
    func neverStarted() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write("services: {web: {command: sleep 600}, web-2: {command: sleep 600}}")
            let twice = "segue: two services have an instance called 'web-2'; rename one of the services"
            #expect(try await segue("up", "-d", "--scale", "web=2").errorLines == [twice])
            #expect(try await segue("up", "-d", "web").status == 0)
            #expect(try await segue("scale", "web=2").errorLines == [twice])
            try await segue("down")
            let services = try await segue("ps", "-a").lines
            #expect(services.last { $0.hasPrefix("web-2 ") }?.hasSuffix(" was never started") == true, "\(services)")
            #expect(services.last { $0.hasPrefix("web ") }?.contains("was never started") == false, "\(services)")
        }
    }

    @Test("The other services continue when one fails after 'segue up -d' has returned", .timeLimit(.minutes(1)))
    func failsLater() async throws {
        try await SegueCommandLine.inScratch { segue in
            #expect(mkfifo(segue.directory + "/go", 0o600) == 0)
            let stack = """
                services:
                  good: {command: [sleep, '600']}
                  late: {command: [sh, -c, 'read line < go; exit 4'], healthcheck: {test: [NOTIFY]}}
                """
            try segue.write(stack)
            #expect(try await segue("up", "-d").status == 0)
            let ended = try await segue.shell("echo > go; segue wait late")
            #expect(ended.status == 4, "\(ended.error)")
            #expect(try await segue("ps", "--services").lines == ["good"])
            try await segue("down")

            #expect(try await segue("up", "-d", "--abort-on-failure").status == 0)
            _ = try await segue.shell("echo > go; segue wait good")
            #expect(try await segue("ps", "--services").lines.isEmpty)

            let foreground = try await segue.shell("(echo > go) & segue up --abort-on-failure; echo status $?")
            #expect(foreground.lines.last == "status 4", "\(foreground.error)")
        }
    }

    @Test("A timeout ends only the wait, and the services continue", .timeLimit(.minutes(1)))
    func waitTimeout() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.gated)
            let up = try await segue("up", "-d", "--wait", "--wait-timeout", "1")
            #expect(up.status == 75)
            #expect(
                up.errorLines.last == "segue: project 'checked' was not ready within 1 s: first, second; "
                    + "its services continue to run; see 'segue ps' and 'segue logs'", "\(up.error)")
            #expect(try await segue("ps", "--status", "starting", "--services").lines == ["first"])
            #expect(try await segue("up", "--wait-timeout", "1").status == 64)
        }
    }

    @Test("'segue exec' runs a command like a service, and verbs of other launchers have a hint")
    func execute() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write("services: {a: {command: [sleep, '600'], working_dir: /usr, environment: [A=own]}}")
            #expect(try await segue("exec", "a", "env").status == 1, "it was never started")
            try await segue("up", "-d")
            let script = "echo $A $SEGUE_SERVICE $PWD ${NOTIFY_SOCKET-none} ${SEGUE_MARK-none} $0; exit 7"
            let result = try await segue("exec", "a", "--", "sh", "-c", script, "-d")
            #expect(result.output == "own a /usr none none -d\n" && result.status == 7, "\(result.error)")
            let utc = try await segue("exec", "a", "sh", "-c", "echo $0 ${TZ-none}", "--utc")
            #expect(utc.output == "--utc none\n", "an option of the command, not of segue: \(utc.output)")
            #expect(try await segue("exec", "a", "no-such-thing").errorLines.last?.contains("no executable") == true)
            try await segue("stop", "a")
            #expect(try await segue("exec", "a", "env").error.contains("service 'a' does not run"))
            for (words, advice) in [
                (["run", "a", "env"], "segue exec SERVICE COMMAND"),
                (["up", "--exit-code-from", "a"], "segue wait --down-project a"), (["up", "--watch"], "segue up -d"),
            ] {
                let refused = try await segue.run(words)
                #expect(refused.status == 64 && refused.error.contains(advice), "\(refused.error)")
            }
        }
    }

    @Test("'segue ps' shows the processor time and the memory of all processes of a service", .timeLimit(.minutes(1)))
    func usage() async throws {
        try await SegueCommandLine.inScratch { segue in
            let burn =
                "perl -e '$| = 1; $x .= \"x\" x 50000000; 1 while (times)[0] < 0.3; print \"done\\n\"; sleep 600'"
            let quoted = burn.replacing("$", with: "$$").replacing("'", with: "''")
            try segue.write("services: {a: {command: [sh, -c, '\(quoted) & wait']}}")
            try await segue("up", "-d")
            let ps = try await segue.shell("segue logs -f a | grep -q done; segue ps --json; segue ps")
            struct Usage: Decodable {
                let cpuSeconds: Double
                let memoryBytes: Int
            }
            let usage = try JSONDecoder().decode(Usage.self, from: Data(try #require(ps.lines.first).utf8))
            #expect(usage.cpuSeconds >= 0.3)
            #expect(usage.memoryBytes >= 50_000_000)
            #expect(try #require(ps.lines.last).contains(#/ \d+ % +\d+\.\d MiB/#), "\(ps.output)")
        }
    }

    @Test("A stack can have more processes than the usual limit of descriptors allows", .timeLimit(.minutes(2)))
    func manyProcesses() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write("services: {a: {command: [sleep, '600'], scale: 60}}")
            let limits = "cat /proc/$(segue ps -q | tail -1)/limits"
            let up = try await segue.shell("ulimit -S -n 256; segue up -d --wait && \(limits)")
            #expect(up.status == 0, "\(up.error)")
            #expect(up.output.contains(#/Max open files +256 /#), "a service has the limit of the shell")
            try await segue("down")

            let refused = try await segue.shell("ulimit -n 256; segue up -d --wait")
            #expect(refused.status == 1)
            #expect(
                refused.errorLines.last?.hasPrefix("segue: 60 instances need about ") == true
                    && refused.errorLines.last?.contains("ulimit -n") == true, "\(refused.error)")
        }
    }

    @Test("'segue up -d' waits only for the services that others depend on", .timeLimit(.minutes(1)))
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

    @Test("A killed launcher leaves nothing", .timeLimit(.minutes(1)))
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

    @Test("'segue up' shows the logs, and stops all in order on Ctrl-C", .timeLimit(.minutes(1)))
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
        "'segue up' shows which services it waits for and how long each took, on a terminal in one line",
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

    @Test("Processes that a killed supervisor has left are found, reported and ended", .timeLimit(.minutes(1)))
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
