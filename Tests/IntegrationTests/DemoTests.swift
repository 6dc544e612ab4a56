import CommandLineTestSupport
import Foundation
import Testing

@Suite("segue demo", .timeLimit(.minutes(5)))
struct DemoTests {
    /// `start NAME [COMMAND]` starts a demo, and waits until it has printed its last line. Its output is in the files
    /// NAME.text and NAME.error, its process id and its name are in `${pids[NAME]}` and `${names[NAME]}`.
    ///
    /// `rest` prints the files and the processes of demos.
    private static let functions = #"""
        declare -A pids names outputs
        name() { sed -n 's/.*export COMPOSE_PROJECT_NAME=\([^ ]*\).*/\1/p' "$1" | head -n 1; }
        start() {
            mkfifo "$1.out"
            ${2:-segue demo} >"$1.out" 2>"$1.error" &
            pids[$1]=$!
            exec {outputs[$1]}<"$1.out"
            while IFS= read -r -u "${outputs[$1]}" line; do
                printf '%s\n' "$line" >>"$1.text"
                [[ $line == Ctrl-C* ]] && { names[$1]=$(name "$1.text"); return; }
            done
            cat "$1.error" >&2
            exit 1
        }
        rest() {
            ls -A run/segue
            [ ! -e state ] || ls -A state
            for name in "${names[@]}"; do grep -slF "$name" /proc/[0-9]*/environ; done
        }
        """#

    @Test("shows the page and the commands to try, listens only on this machine, and leaves nothing after Ctrl-C")
    func demo() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await run(
                #"""
                start one
                page=$(grep -o 'http://127.0.0.1:[0-9]*' one.text)
                (
                    eval "$(grep -m 1 '^    export ' one.text)"
                    segue open --open "cp -t $PWD"
                    link=$(grep -oh -m 1 'http://[^"]*link=[^"]*' ./*.html | head -n 1)
                    curl --silent --cookie-jar jar --output signed-in "$link"
                    curl --silent --cookie jar --output page --write-out 'HTTP %{http_code}\n' "$page"
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
            #expect(lines.contains("HTTP 200") && lines.contains("<title>Segue</title>"), "\(result)")
            #expect(lines.contains("at launch"), "\(result)")
            #expect(lines.contains { $0.hasPrefix("auth-service broker ") }, "\(result)")
            #expect(lines.count { $0 == page } == 2, "\(result)")
            let listening = lines.filter { $0.hasPrefix("listens at ") }
            #expect(listening.count >= 2 && Set(listening) == ["listens at 0100007F"], "\(result)")
            #expect(lines.last == "status 0", "nothing is left: \(result)")
        }
    }

    @Test(
        "ends with SIGTERM, with its terminal and with the reader of its output",
        arguments: [
            "kill -TERM ${pids[one]}", "kill -HUP ${pids[one]}; kill -HUP ${pids[one]}", "exec {outputs[one]}<&-",
        ])
    func ending(_ cause: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await run("start one; \(cause); wait ${pids[one]}; echo status $?; rest", segue)
            #expect(result.lines == ["status 0"], "\(result)")
        }
    }

    @Test("ends with a terminal that is closed without a signal to the demo")
    func terminal() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await run(
                #"""
                script -qfc "setsid --wait sh -c 'echo \$\$ >pid; exec segue demo'" screen </dev/null >/dev/null & terminal=$!
                until grep -sq '^Ctrl-C' screen; do sleep 0.02; done
                names[one]=$(name screen)
                kill -9 $terminal
                tail -f /dev/null --pid "$(cat pid)"
                rest
                """#, segue)
            #expect(result.output == "", "\(result)")
        }
    }

    @Test("runs beside others, and removes what killed ones have left, but nothing else")
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
                start four
                grep -o 'removed demo-.*' four.error | sort
                (
                    eval "$(grep -m 1 '^    export ' three.text)"
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

    // MARK: Installed programs

    /// Installs `segue` with a stack in `prefix`.
    private func install(_ stack: String, _ segue: SegueCommandLine) async throws {
        let manager = FileManager.default
        for folder in ["bin", "share/segue/compose", "share/segue/docs"] {
            try manager.createDirectory(
                atPath: "\(segue.directory)/prefix/\(folder)", withIntermediateDirectories: true)
        }
        try await segue.shell(#"cp "$(readlink -f "$(command -v segue)")" prefix/bin; ln -s prefix/bin/segue linked"#)
        try segue.write(stack, to: "prefix/share/segue/compose/default.yaml")
        try manager.copyItem(
            atPath: Repository.path("docs/try.txt"), toPath: "\(segue.directory)/prefix/share/segue/docs/try.txt")
    }

    @Test("says why the installed stack does not start, with the last lines of its log, and leaves nothing")
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
            let folders = "\(segue.directory)/prefix/share/segue"
            #expect(
                missing.error == "segue: there is no compose/default.yaml in \(folders); "
                    + "install segue again, with its folder share\n")
        }
    }

    @Test("ends with Ctrl-C while it waits for a service")
    func waiting() async throws {
        try await SegueCommandLine.inScratch { segue in
            try await install(
                "services: { slow: { command: sleep 600, healthcheck: { test: test -e x, start_period: 600s } } }",
                segue)
            let result = try await run(
                """
                mkfifo error
                ./linked demo 2>error & pid=$!
                exec 3<error
                grep -m 1 -q 'waiting for slow' <&3
                kill -INT $pid
                wait $pid; echo "status $?"; rest
                """, segue)
            #expect(result.lines == ["status 0"], "\(result)")
        }
    }

    private func run(_ script: String, _ segue: SegueCommandLine) async throws -> SegueCommandLine.Result {
        try await segue.shell("\(Self.functions)\n\(script)")
    }
}
