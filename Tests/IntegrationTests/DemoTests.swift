import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@Suite("'segue demo'", .timeLimit(.minutes(5)))
struct DemoTests {
    /// `start NAME [COMMAND…]` starts a demo, and waits until it has printed its last line. Its output is in the files
    /// NAME.text and NAME.error, its process id and its name are in `${pids[NAME]}` and `${names[NAME]}`.
    ///
    /// `begin NAME` starts a demo of the installed programs, and waits until it waits for the service `slow`. Prints
    /// its messages about removed demos.
    ///
    /// `enter NAME` sets the variables that a demo suggests.
    ///
    /// `rest` prints the files and the processes of demos.
    private static let functions = #"""
        declare -A pids names outputs
        name() { sed -n 's/.*export COMPOSE_PROJECT_NAME=\([^ ]*\).*/\1/p' "$1" | head -n 1; }
        start() {
            [ $# -gt 1 ] || set -- "$1" segue demo
            mkfifo "$1.out"
            "${@:2}" >"$1.out" 2>"$1.error" &
            pids[$1]=$!
            exec {outputs[$1]}<"$1.out"
            while IFS= read -r -u "${outputs[$1]}" line; do
                printf '%s\n' "$line" >>"$1.text"
                [[ $line == Ctrl-C* ]] && { names[$1]=$(name "$1.text"); return; }
            done
            cat "$1.error" >&2
            exit 1
        }
        begin() {
            mkfifo "$1.error"
            ./linked demo 2>"$1.error" &
            pids[$1]=$!
            exec {outputs[$1]}<"$1.error"
            sed -n 's/.*\(removed demo-\).*/\1/p; /waiting for slow/q' <&"${outputs[$1]}"
        }
        enter() { eval "$(grep -m 1 '^    export ' "$1.text")"; }
        rest() {
            ls -A run/segue
            [ ! -e state ] || ls -A state
            # Supervisors and services have the folder of the demo's state in their environments.
            grep -slF "$XDG_RUNTIME_DIR/segue/.demo-" /proc/[0-9]*/environ
        }
        """#

    @Test("'segue demo' shows the page and its commands, listens only locally, and leaves nothing after Ctrl-C")
    func demo() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await run(
                #"""
                start one
                page=$(grep -o 'http://127.0.0.1:[0-9]*' one.text)
                (
                    enter one
                    segue open --open "cp -t $PWD"
                    link=$(grep -oh -m 1 'http://[^"]*link=[^"]*' ./*.html | head -n 1)
                    curl --silent --cookie-jar jar --output signed-in "$link"
                    curl --silent --cookie jar --output page --write-out 'HTTP %{http_code}\n' "$page"
                    curl --silent --write-out 'HTTP %{http_code}\n' --output signed-in "$(segue open --link)"
                    grep -o '<title>.*</title>' page
                    echo "at $(segue get NavigationState ios --field data.state.root.screen)"
                    segue ps --services | sort | paste -sd ' '
                    sockets=$(ls -l $(segue ps -q | sed 's|.*|/proc/&/fd|') | grep -o 'socket:\[[0-9]*' | tr -dc '0-9\n')
                    cat /proc/net/tcp /proc/net/tcp6 | awk -v sockets="$sockets" '
                        BEGIN { for (n = split(sockets, list); n > 0; n--) own[list[n]] }
                        $4 == "0A" && $10 in own { split($2, at, ":"); print "listens at " at[1] }'
                )
                echo "$page"
                kill -INT "${pids[one]}"
                wait "${pids[one]}"
                echo "status $?"
                rest
                """#, segue)
            let lines = result.lines
            let page = lines.first { $0.hasPrefix("http://127.0.0.1:") } ?? "none"
            #expect(lines.count { $0 == "HTTP 200" } == 2 && lines.contains("<title>Segue</title>"), "\(result)")
            #expect(lines.contains("at launch"), "\(result)")
            #expect(lines.contains { $0.hasPrefix("auth-service broker ") }, "\(result)")
            #expect(lines.count { $0 == page } == 2, "\(result)")
            let listening = lines.filter { $0.hasPrefix("listens at ") }
            #expect(listening.count >= 2 && Set(listening) == ["listens at 0100007F"], "\(result)")
            #expect(lines.last == "status 0", "nothing is left: \(result)")
        }
    }

    @Test(
        "'segue demo' ends with SIGTERM, with its terminal and with the reader of its output",
        arguments: [
            "kill -TERM ${pids[one]}", "kill -HUP ${pids[one]}; kill -HUP ${pids[one]}", "exec {outputs[one]}<&-",
        ])
    func ending(_ cause: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await run("start one; \(cause); wait ${pids[one]}; echo status $?; rest", segue)
            #expect(result.lines == ["status 0"], "\(result)")
        }
    }

    @Test("'segue demo' ends with a terminal that is closed without a signal to it")
    func terminal() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await run(
                #"""
                start one script -qfc "setsid --wait sh -c 'echo \$\$ >pid; exec segue demo'" /dev/null
                kill -9 "${pids[one]}"
                tail -f /dev/null --pid "$(cat pid)"
                rest
                """#, segue)
            #expect(result.output == "", "\(result)")
        }
    }

    @Test("Several demos run beside each other, and a new one removes only what killed ones have left")
    func killed() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await run(
                #"""
                for name in one two three; do start $name; done
                mkdir precious
                touch precious/lock
                ln -s ../../precious run/segue/.demo-01234567
                kill -9 "${pids[one]}"
                # The supervisor is the child of the demo.
                kill -9 $(pgrep -P "${pids[two]}") "${pids[two]}"
                # Until they have ended, they hold their locks.
                wait "${pids[one]}" "${pids[two]}"
                start four
                grep -o 'removed demo-.*' four.error | sort
                (
                    enter three
                    segue get NavigationState ios >/dev/null && echo three answers
                )
                rm run/segue/.demo-01234567
                ls precious
                kill "${pids[three]}" "${pids[four]}"
                wait "${pids[three]}" "${pids[four]}"
                echo "status $?"
                rest
                printf '%s\n' "${names[one]}" "${names[two]}" | sort
                """#, segue)
            let names = result.lines.suffix(2)
            let removed = names.map { "removed \($0), a demo that was killed" }
            #expect(Set(names).count == 2)
            #expect(result.lines == removed + ["three answers", "lock", "status 0"] + names, "\(result)")
        }
    }

    @Test("A demo can end while another one starts")
    func ends() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await run(
                #"""
                start one
                kill "${pids[one]}"
                start two
                wait "${pids[one]}"; echo "status $?"
                kill "${pids[two]}"
                wait "${pids[two]}"; echo "status $?"
                grep -h remove ./*.error
                rest
                """#, segue)
            #expect(result.lines == ["status 0", "status 0"], "\(result)")
        }
    }

    // MARK: Installed programs

    /// A stack that is ready at once.
    private static let ready = "services: { one: { command: sleep 600 } }"
    /// A stack that never becomes ready.
    private static let slow =
        "services: { slow: { command: sleep 600, healthcheck: { test: test -e x, start_period: 600s } } }"

    /// Installs `segue` with a stack in `prefix`, as scripts/install does.
    private func install(_ stack: String, _ segue: SegueCommandLine) async throws {
        let manager = FileManager.default
        for folder in ["bin", "lib/segue", "share/segue/compose", "share/segue/docs"] {
            try manager.createDirectory(
                atPath: "\(segue.directory)/prefix/\(folder)", withIntermediateDirectories: true)
        }
        try await segue.shell(
            #"""
            cp "$(readlink -f "$(command -v segue)")" prefix/lib/segue
            ln -s ../lib/segue/segue prefix/bin/segue
            ln -s prefix/bin/segue linked
            """#)
        try segue.write(stack, to: "prefix/share/segue/compose/default.yaml")
        try manager.copyItem(
            atPath: Repository.path("docs/try.txt"), toPath: "\(segue.directory)/prefix/share/segue/docs/try.txt")
    }

    @Test("A demo reports why the stack does not start, with the last log lines, and leaves nothing")
    func failure() async throws {
        try await SegueCommandLine.inScratch { segue in
            try await install(
                "services: { bad: { command: [sh, -c, 'echo full; exit 3'], healthcheck: { test: [NOTIFY] } } }", segue)
            let file = "\(segue.directory)/prefix/share/segue/compose/default.yaml"
            let result = try await run("./linked demo; echo status $?; rest", segue)
            #expect(result.lines == ["status 1"], "\(result)")
            #expect(
                result.errorLines.suffix(2) == [
                    "segue: service 'bad' exited with status 3 before it was ready; "
                        + "its log is removed; to keep it, run 'segue up -f \(file)'", "  | full",
                ], "\(result)")
            try FileManager.default.removeItem(atPath: file)
            let missing = try await segue.shell("./linked demo")
            #expect(missing.status == 66)
            let prefix = "\(segue.directory)/prefix"
            #expect(
                missing.error == "segue: there is no compose/default.yaml in \(prefix)/lib/share/segue "
                    + "or \(prefix)/share/segue; install segue again, with its folder share\n")
        }
    }

    @Test("A demo suggests the folder of the commands, unless it is in PATH")
    func path() async throws {
        try await SegueCommandLine.inScratch { segue in
            try await install(Self.ready, segue)
            let result = try await run(
                #"""
                start one ./linked demo
                export PATH=$PWD/prefix/bin:$PATH
                start two
                for name in one two; do
                    echo "$name$(grep -m 1 '^    export ' $name.text | sed 's/.*segue\/.demo-[^ ]*//')"
                    kill "${pids[$name]}"
                    wait "${pids[$name]}"
                done
                rest
                """#, segue)
            #expect(result.lines == ["one PATH=\(segue.directory)/prefix/bin:\"$PATH\"", "two"], "\(result)")
        }
    }

    @Test(
        "A demo ends when its project is stopped, even if the state is removed before it is read",
        arguments: ["", " -v"])
    func down(_ option: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            try await install(Self.ready, segue)
            let result = try await run(
                """
                start one ./linked demo
                kill -STOP ${pids[one]}
                (enter one; segue down\(option)) >/dev/null
                kill -CONT ${pids[one]}
                wait ${pids[one]}; echo "status $?"; rest
                """, segue)
            #expect(result.lines == ["status 0"], "\(result)")
        }
    }

    @Test(
        "A demo ends with Ctrl-C while it waits for a service, even if its supervisor is suspended",
        arguments: ["", "kill -STOP $(pgrep -P ${pids[one]})"])
    func waiting(_ cause: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            try await install(Self.slow, segue)
            let result = try await run(
                """
                begin one
                \(cause)
                kill -INT ${pids[one]}
                wait ${pids[one]}; echo "status $?"; rest
                """, segue)
            #expect(result.lines == ["status 0"], "\(result)")
        }
    }

    @Test(
        "A demo that is killed during its start leaves nothing to the next one",
        arguments: ["", "$(pgrep -P ${pids[one]})"])
    func killedStart(_ supervisor: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            try await install(Self.slow, segue)
            let result = try await run(
                """
                begin one
                kill -9 ${pids[one]} \(supervisor)
                wait ${pids[one]}
                begin two
                kill -INT ${pids[two]}
                wait ${pids[two]}; echo "status $?"; rest
                """, segue)
            #expect(result.lines == ["removed demo-", "status 0"], "\(result)")
        }
    }

    private func run(_ script: String, _ segue: SegueCommandLine) async throws -> SegueCommandLine.Result {
        try await segue.shell("\(Self.functions)\n\(script)")
    }
}
