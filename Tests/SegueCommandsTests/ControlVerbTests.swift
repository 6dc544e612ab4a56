import CommandLineTestSupport
import Foundation
import Testing

@Suite("Verbs with a running stack")
struct ControlVerbTests {
    /// Services that write a line to the file `order` when they start and when they receive the stop signal.
    private static func stack(level: String = "info", extra: String = "") -> String {
        func script(_ name: String) -> String {
            "trap 'echo -\(name) >> order; kill $$!; exit 0' TERM; echo +\(name) >> order; \(ready); sleep 600 & wait"
        }
        return """
            name: demo
            services:
              web:
                command: [sh, -c, "\(script("web"))"]
                environment: { LEVEL: \(level) }
                restart: unless-stopped
                healthcheck: { test: [NOTIFY] }
                depends_on: { db: { condition: service_healthy, restart: true } }
              db:
                command: [sh, -c, "\(script("db"))"]
                restart: always
                healthcheck: { test: [NOTIFY] }
            \(extra)
            """
    }

    /// A command in YAML, with escaped quotation marks and, for compose, doubled dollar signs.
    private static let ready =
        "perl -MSocket -e 'socket(S,PF_UNIX,SOCK_DGRAM,0);"
        + #"send(S,\"READY=1\",0,pack_sockaddr_un($$ENV{NOTIFY_SOCKET}))'"#

    private struct Row: Decodable, Equatable {
        let name: String
        let service: String
        let state: String
        let pid: Int32?
        let restarts: Int
    }

    private func rows(_ segue: SegueCommandLine, _ flags: String...) async throws -> [String: Row] {
        let lines = try await segue.run(["ps", "--format", "json"] + flags).lines
        let rows = try lines.map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0) })
    }

    private func whileUp(_ body: (SegueCommandLine) async throws -> Void) async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Self.stack())
            let up = try await segue("up", "-d", "--wait")
            try #require(up.status == 0, "\(up.error)")
            try await body(segue)
        }
    }

    @Test("'segue up' on a running stack applies its changed file, and prints the changes", .timeLimit(.minutes(1)))
    func upAgain() async throws {
        try await whileUp { segue in
            let before = try await rows(segue)
            #expect(try await segue("up", "-d", "--wait").error == "segue: project 'demo' stays as it is\n")

            let extra = "  new: { command: [sleep, '600'] }"
            try segue.write(Self.stack(level: "debug", extra: extra))
            let rehearsed = try await segue("up", "--dry-run")
            #expect(
                rehearsed.errorLines == [
                    "segue: web would be restarted: its definition has changed", "segue: new would start",
                ])
            #expect(try await rows(segue) == before)

            let changed = try await segue("up", "-d", "--wait")
            #expect(
                changed.errorLines.prefix(2) == [
                    "segue: web is restarted: its definition has changed", "segue: new starts",
                ])
            #expect(changed.errorLines.contains("segue: web is ready"))
            let after = try await rows(segue)
            #expect(after["db"] == before["db"])
            #expect(after["web"]?.pid != before["web"]?.pid)
            #expect(after["new"]?.state == "running")

            try segue.write(Self.stack(level: "debug"))
            let gone = try await segue("up", "-d", "--wait")
            #expect(gone.errorLines.first == "segue: new is removed: the compose files have no service 'new'")
            #expect(try await rows(segue, "-a")["new"] == nil)

            let forced = try await segue("up", "-d", "--wait", "--force-recreate", "--no-deps", "web")
            #expect(forced.errorLines.first == "segue: web is restarted: a restart was requested")
            #expect(try await rows(segue)["db"] == before["db"])
        }
    }

    @Test("'segue up' restarts the services that read an edited file, and names the file", .timeLimit(.minutes(1)))
    func edited() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(
                """
                name: demo
                services:
                  web: { command: sleep 600, develop: { watch: [{ path: flows, action: restart }] } }
                  db: { command: sleep 601, env_file: db.env }
                  tool: { command: ./tool }
                  writer: { command: sh -c 'echo > own.yaml; exec sleep 602' }
                """)
            try FileManager.default.createDirectory(
                atPath: "\(segue.directory)/flows", withIntermediateDirectories: false)
            try segue.write("a", to: "flows/ios.yaml")
            try segue.write("# A", to: "db.env")
            try segue.write("#!/bin/sh\nexec sleep 603", to: "tool")
            #expect(chmod("\(segue.directory)/tool", 0o755) == 0)
            #expect(try await segue("up", "-d", "--wait").status == 0)
            let before = try await rows(segue)
            #expect(try await segue("up", "-d", "--wait").error == "segue: project 'demo' stays as it is\n")

            try segue.write("b", to: "flows/mac.yaml")
            try segue.write("# B", to: "db.env")
            // A linker replaces the file.
            try segue.write("#!/bin/sh\nexec sleep 604", to: "new")
            #expect(chmod("\(segue.directory)/new", 0o755) == 0)
            #expect(rename("\(segue.directory)/new", "\(segue.directory)/tool") == 0)
            let changes = ["db.env changed", "tool was rebuilt", "flows changed"]
            let rehearsed = try await segue("up", "--dry-run").errorLines
            #expect(
                zip(["db", "tool", "web"], changes).allSatisfy { service, change in
                    rehearsed.contains("segue: \(service) would be restarted: \(change)")
                }, "\(rehearsed)")
            let up = try await segue("up", "-d", "--wait").errorLines
            #expect(changes.allSatisfy { change in up.contains { $0.hasSuffix("is restarted: \(change)") } }, "\(up)")
            let after = try await rows(segue)
            #expect(after["writer"] == before["writer"], "what a process writes itself is no edit")
            #expect(after.keys.filter { after[$0]?.pid != before[$0]?.pid }.sorted() == ["db", "tool", "web"])
            #expect(try await segue("up", "-d", "--wait").error == "segue: project 'demo' stays as it is\n")
        }
    }

    @Test("'segue up' keeps running services of a profile that is not active", .timeLimit(.minutes(1)))
    func profiles() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.profiled)
            #expect(try await segue("up", "-d", "--wait", "--profile", "debug").status == 0)
            let before = try await rows(segue)
            #expect(before.keys.sorted() == ["debugger", "web"])
            #expect(try await segue("up", "-d", "--wait").error == "segue: project 'demo' stays as it is\n")
            #expect(try await rows(segue) == before)
            #expect(try await segue("restart", "debugger").errorLines.last == "segue: debugger runs")
            try segue.write("{name: demo, services: {web: {command: [sleep, '600']}}}")
            let gone = try await segue("up", "-d", "--wait")
            #expect(gone.errorLines.first == "segue: debugger is removed: the compose files have no service 'debugger'")
        }
    }

    @Test("Two concurrent 'segue up' start a stack once, and both report that it runs", .timeLimit(.minutes(1)))
    func twoAtOnce() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Self.stack())
            let both = try await segue.shell(
                "segue up -d --wait & first=$!; segue up -d --wait; echo $?; wait $first; echo $?")
            #expect(both.lines == ["0", "0"], "\(both.error)")
            #expect(try await rows(segue).values.map(\.state) == ["ready", "ready"])
            let order = try String(contentsOfFile: segue.directory + "/order", encoding: .utf8)
            #expect(order == "+db\n+web\n")
        }
    }

    @Test(
        "'segue stop', 'start' and 'restart' act in order, and report when services are ready", .timeLimit(.minutes(1)))
    func stopStartRestart() async throws {
        try await whileUp { segue in
            let stopped = try await segue("stop")
            #expect(stopped.errorLines.prefix(2) == ["segue: web is stopped", "segue: db is stopped"])
            #expect(try await rows(segue).isEmpty)
            #expect(try await rows(segue, "--all").mapValues(\.state) == ["web": "exited", "db": "exited"])
            #expect(try await segue("stop", "web").error == "segue: project 'demo' stays as it is\n")
            #expect(try await segue("start", "web").errorLines.last == "segue: web is ready")
            #expect(try await segue("restart", "db").errorLines.last == "segue: web is ready")
            #expect(
                try await segue("restart", "--no-deps", "db").errorLines == [
                    "segue: db is restarted", "segue: db is ready",
                ])
            let order = try String(contentsOfFile: segue.directory + "/order", encoding: .utf8)
            #expect(
                order.split(separator: "\n").joined(separator: " ")
                    == "+db +web -web -db +db +web -web -db +db +web -db +db")
            let unknown = try await segue("restart", "wep")
            #expect(unknown.status == 78)
            #expect(unknown.error == "segue: project 'demo' has no service 'wep'; did you mean 'web'?\n")
        }
    }

    @Test("'segue ps' prints the requested numbers, names and states", .timeLimit(.minutes(1)))
    func list() async throws {
        try await whileUp { segue in
            let scaled = try await segue("scale", "web=2")
            #expect(scaled.errorLines == ["segue: web-2 starts", "segue: web-2 is ready"])
            let rows = try await rows(segue)
            #expect(rows["web-2"]?.service == "web")
            #expect(
                try await segue("ps", "-q", "web").lines
                    == [rows["web"], rows["web-2"]].compactMap { $0?.pid?.description })
            #expect(try await segue("ps", "--services").lines == ["web", "db"])
            #expect(try await segue("ps", "--status", "exited").lines.count == 1)
            #expect(try await segue("ls").lines.last?.split(separator: " ").prefix(3) == ["demo", "up", "3"])
            try await segue("kill", "-s", "KILL", "db")
            try await segue("wait", "--ready", "db")
            #expect(try await self.rows(segue)["db"]?.restarts == 1)
            #expect(
                try await segue("down", "web").errorLines.prefix(2) == [
                    "segue: web-2 is removed", "segue: web is removed",
                ])
            #expect(try await segue("ps", "-a", "--services").lines == ["db"])
            #expect(try await segue("down", "--dry-run").error == "segue: db would be removed\n")
        }
    }

    @Test(
        "'segue ps' knows a service that was scaled to zero, and lists services in the order of the file",
        .timeLimit(.minutes(1)))
    func none() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(
                "services: {z: {command: sleep 600}, m: {command: sleep 600, scale: 0}, a: {command: sleep 600}}")
            #expect(try await segue("up", "-d", "--wait").status == 0)
            #expect(try await segue("ps", "--services").lines == ["z", "a"])
            for verb in [["ps"], ["logs"], ["events"], ["wait", "--ready"], ["stop"], ["down", "--dry-run"]] {
                let result = try await segue.run(verb + ["m"])
                #expect(result.status == 0, "\(verb): \(result.error)")
            }
            let unknown = try await segue("ps", "mm")
            #expect(unknown.status == 78 && unknown.error.hasSuffix("has no service 'mm'; did you mean 'm'?\n"))
            #expect(try await segue("scale", "m=2").status == 0)
            #expect(try await segue("ps", "-q").lines.count == 4)
            #expect(try await segue("ps", "--services").lines == ["z", "m", "a"])
            let state = try await segue("ps", "--status", "asleep")
            #expect(state.status == 64 && state.error.contains("ready"), "it names those that there are")
        }
    }

    @Test("'segue wait' waits for services to end, and ends with the status of the first", .timeLimit(.minutes(1)))
    func wait() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(
                """
                name: jobs
                services:
                  forever: { command: [sleep, "600"] }
                  job: { command: [sh, -c, "read line < go; exit 7"] }
                """)
            #expect(mkfifo(segue.directory + "/go", 0o600) == 0)
            try await segue("up", "-d", "--wait")
            let job = try await segue.shell("segue wait job & echo > go; wait $!; echo \"status $?\"")
            #expect(job.lines == ["job exited with status 7", "status 7"])
            try await segue("restart", "job")
            let down = try await segue.shell("segue wait --down-project & echo > go; wait $!; echo \"status $?\"")
            #expect(down.lines == ["job exited with status 7", "status 7"])
            #expect(try await segue("ps").lines.count == 1)
        }
    }

    @Test(
        "Each verb finds the processes that a killed supervisor has left, and takes them over", .timeLimit(.minutes(1)))
    func takeover() async throws {
        try await whileUp { segue in
            for verb in [["restart", "web"], ["start"], ["scale", "web=1"], ["up", "-d", "--wait"]] {
                let before = try await rows(segue)
                try await killSupervisor(segue)
                let taken = try await segue.run(verb)
                #expect(taken.status == 0, "\(verb): \(taken.error)")
                let after = try await rows(segue)
                #expect(after.values.map(\.state) == ["ready", "ready"])
                for row in before.values {
                    #expect(try Self.hasEnded(row), "\(verb): \(row.name) is left")
                }
            }
            try await killSupervisor(segue)
            let stopped = try await segue("stop", "web")
            #expect(
                stopped.error
                    == "segue: stopped the processes that a killed supervisor of project 'demo' had left\n")
            #expect(try await rows(segue).keys.sorted() == ["db"], "the rest was left alone")
            #expect(try await segue("kill", "db").error.contains("project 'demo' has no supervisor"))
            #expect(try await segue("down").error == "segue: project 'demo' is down\n")
            #expect(try await rows(segue).isEmpty)
        }
    }

    @Test(
        "Ctrl-C reaches only the supervisor, which stops all in order, and at once on the second time",
        .timeLimit(.minutes(1)))
    func terminal() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(
                """
                name: tty
                services:
                  db: { command: [sh, -c, "trap 'echo db INT >> told' INT; trap 'echo db TERM >> told; kill $$!; exit' TERM; echo up; sleep 600 & while :; do wait; done"] }
                  web:
                    command: [sh, -c, "trap 'echo web INT >> told' INT; trap 'echo web TERM >> told; kill $$!; exit' TERM; echo up; sleep 600 & while :; do wait; done"]
                    depends_on: [db]
                """)
            let once = try await segue.shell(Self.atTerminal("read_until 2 '| up'; type"))
            #expect(once.output.contains("status 0"), "\(once.output)")
            #expect(try String(contentsOfFile: segue.directory + "/told", encoding: .utf8) == "web TERM\ndb TERM\n")

            // A shell that waits runs its trap at once. In the foreground, a `sleep` that was forked a moment ago would
            // lose the signal, and the trap would wait for its end.
            try segue.write(
                """
                name: tty
                services:
                  deaf:
                    command: [sh, -c, "trap 'echo asked' TERM; echo up; while :; do sleep 600 & wait; done"]
                    stop_grace_period: 1h
                """)
            let twice = try await segue.shell(
                Self.atTerminal("read_until 1 '| up'; type; read_until 1 '| asked'; type"))
            #expect(twice.output.contains("status 0"), "\(twice.output)")
        }
    }

    /// Returns a script that runs `segue up` in a terminal, and the actions outside of it. The action `type` sends the
    /// byte 3: Ctrl-C, which the terminal turns into SIGINT for its whole foreground process group.
    private static func atTerminal(_ actions: String) -> String {
        """
        mkfifo keys screen
        NO_COLOR=1 script -qefc 'segue up' /dev/null < keys > screen &
        pid=$!
        exec 4> keys 3< screen
        type() { printf '\\003' >&4; }
        read_until() {
            seen=0
            while [ $seen -lt $1 ] && IFS= read -r -u 3 line; do
                case "$line" in *"$2"*) seen=$((seen + 1));; esac
            done
        }
        \(actions)
        cat <&3
        wait $pid
        echo "status $?"
        rm keys screen
        """
    }

    /// True if the process has ended or is a zombie.
    private static func hasEnded(_ row: Row) throws -> Bool {
        let stat = try? String(contentsOfFile: "/proc/\(try #require(row.pid))/stat", encoding: .utf8)
        return stat?.contains(") Z ") ?? true
    }

    private func killSupervisor(_ segue: SegueCommandLine) async throws {
        // If the supervisor's lock is free, the supervisor has ended.
        let killed = try await segue.shell(
            """
            state=state/segue/demo
            kill -9 $(sed -n 's/.*"pid" : \\([0-9]*\\).*/\\1/p' $state/supervisor.json | tail -1)
            flock $state/lock true
            """)
        #expect(killed.status == 0, "\(killed.error)")
    }
}
