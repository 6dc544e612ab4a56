import CommandLineTestSupport
import EventBus
import Foundation
import Monitor
import Testing

@Suite("'segue record' and 'segue replay'")
struct RecordVerbTests {
    /// A bus with three messages, which are recorded in `story.jsonl`.
    private func withRecording(
        _ engine: BusEngine = .broker, _ body: (SegueCommandLine) async throws -> Void
    ) async throws {
        try await SegueCommandLine.onBus(engine) { segue in
            for n in 1...3 { try await segue("send", n == 2 ? "event.B" : "event.A", #"{"n":\#(n)}"#) }
            let record = try await segue("record", "story.jsonl", "--since", "beginning", "--until", "end")
            try #require(record.status == 0, "\(record.error)")
            #expect(record.error == "segue: 3 messages recorded in story.jsonl\n" && record.output.isEmpty)
            try await body(segue)
        }
    }

    /// Checks that only the owner can read a recording, also one that overwrites a file.
    private func mode(of file: String, in segue: SegueCommandLine) async throws {
        let all = "segue record \(file) --force --since beginning --until end"
        let modes = try await segue.shell("stat -c %a \(file); chmod 644 \(file); \(all); stat -c %a \(file)")
        #expect(modes.lines == ["600", "600"], "\(modes.error)")
    }

    @Test(
        "A recording has a header, a message on each line, and an end, and an existing file is kept",
        .timeLimit(.minutes(1)),
        arguments: BusEngine.allCases)
    func record(engine: BusEngine) async throws {
        try await withRecording(engine) { segue in
            let lines = try String(contentsOfFile: segue.directory + "/story.jsonl", encoding: .utf8)
                .split(separator: "\n")
            #expect(lines.count == 5)
            try await mode(of: "story.jsonl", in: segue)
            #expect(lines[0].contains(#""segue":"recording""#) && lines[0].contains(#""since":"beginning""#))
            #expect(lines[4].contains(#""messages":3"#))
            let monitor = try await segue("monitor", "--since", "beginning", "--count", "3", "--json")
            #expect(monitor.lines == lines[1...3].map(String.init), "as a monitor shows them")

            let again = try await segue("record", "story.jsonl", "--since", "beginning", "--until", "end")
            #expect(
                again.status == 1
                    && again.error.contains("story.jsonl exists already; name another file, or use --force"))
            let forced = try await segue(
                "record", "story.jsonl", "--force", "--since", "beginning", "--type", "event.A", "--count", "1")
            #expect(forced.error == "segue: 1 message recorded in story.jsonl\n")
            let nowhere = try await segue("record", "no/folder.jsonl", "--since", "beginning", "--count", "1")
            #expect(nowhere.status == 74 && nowhere.errorLines.count == 1)
        }
    }

    @Test(
        "'segue record info' describes a recording or a monitor's output, and names mistakes", .timeLimit(.minutes(1)),
        arguments: BusEngine.allCases)
    func info(engine: BusEngine) async throws {
        try await withRecording(engine) { segue in
            let info = try await segue("record", "info", "story.jsonl")
            #expect(info.status == 0 && info.error.isEmpty)
            for line in ["state      whole", "messages   3", "missing    none", "event.A  2", "default  3"] {
                #expect(info.lines.contains(line), "\(info.output)")
            }
            let json = try await segue("record", "info", "story.jsonl", "--json")
            #expect(json.lines.count == 1 && json.output.contains(#""types":{"event.A":2,"event.B":1}"#))

            let monitor = try await segue.shell(
                """
                set -o pipefail
                segue monitor --since beginning --count 2 --json > seen.jsonl && segue record info seen.jsonl
                """)
            #expect(monitor.status == 0 && monitor.lines.contains("state      unknown"), "\(monitor.output)")

            let damaged = try await segue.shell(
                "sed '3s/event/happening/' story.jsonl > damaged.jsonl; segue record info damaged.jsonl")
            #expect(damaged.status == 1 && damaged.error.hasPrefix("segue: damaged.jsonl:3: this is not a message: "))
            let replay = try await segue("replay", "damaged.jsonl", "--speed", "max")
            #expect(replay.status == 65 && replay.error.contains("damaged.jsonl:3:") && replay.errorLines.count == 1)
            let missing = try await segue("record", "info", "none.jsonl")
            #expect(missing.status == 66 && missing.error.contains("there is no file none.jsonl"))
            let folder = try await segue("record", "info", ".")
            #expect(
                folder.error == "segue: . cannot be read: Is a directory; name a file that you can read\n")
            #expect(folder.status == 66)
        }
    }

    @Test("A recording can go into a pipe only if it has a reader", .timeLimit(.minutes(1)))
    func pipe() async throws {
        try await withRecording { segue in
            let piped = try await segue.shell(
                "set -o pipefail; segue record /dev/stdout --force --since beginning --until end | tail -1")
            #expect(piped.status == 0 && piped.output.contains(#""messages":3"#), "\(piped.error)")
            let unread = try await segue.shell("mkfifo pipe; segue record pipe --force --since beginning --until end")
            #expect(unread.error == "segue: pipe is a pipe without a reader; start the reader first\n")
            #expect(unread.status == 74)
        }
    }

    @Test("The file '-' is standard output of a recording, and standard input of a replay", .timeLimit(.minutes(1)))
    func standardStreams() async throws {
        try await withRecording { segue in
            let all = "segue record - --since beginning --until end"
            let piped = try await segue.shell("set -o pipefail; \(all) | tail -1; ls")
            #expect(piped.error == "segue: 3 messages recorded\n" && piped.output.contains(#""messages":3"#))
            #expect(!piped.lines.contains("-"))
            let unread = try await segue.shell(
                "set -o pipefail; segue record - --since beginning | head -2 | wc -l; echo ${PIPESTATUS[0]}")
            #expect(unread.lines == ["2", "0"] && unread.error.isEmpty, "\(unread.error)")

            for source in ["cat story.jsonl | segue record info -", "segue record info - < story.jsonl"] {
                let info = try await segue.shell(source)
                #expect(info.status == 0 && info.lines.contains("messages   3"), "\(info.error)")
                #expect(info.lines.first == "recording  standard input")
            }
            let replay = try await segue.shell("\(all) 2> told | segue replay - --speed max")
            #expect(replay.error.hasPrefix("segue: 3 of 3 messages sent in "), "\(replay.error)")
            let missing = try await segue.shell("cat story.jsonl | segue replay - --from nowhere")
            #expect(missing.error.contains("standard input has no message 'nowhere'"))
            let wrong = try await segue.shell("echo '{}' | segue replay -")
            #expect(wrong.error.hasPrefix("segue: standard input:1: this is not a message: ") && wrong.status == 65)
        }
    }

    @Test(
        "Ctrl-C ends a recording in order, and a kill -9 leaves one that reports what it lacks",
        .timeLimit(.minutes(1)),
        arguments: BusEngine.allCases)
    func ends(engine: BusEngine) async throws {
        try await withRecording(engine) { segue in
            let script = """
                record() {
                    segue record "$2" --since beginning 2>err & pid=$!
                    until [ "$(cat "$2" 2>/dev/null | wc -l)" -ge 4 ]; do :; done
                    kill -"$1" $pid
                    wait $pid
                    echo "status $?"
                    cat err
                    segue record info "$2"
                }
                """
            let interrupted = try await segue.shell("\(script)\nrecord INT whole.jsonl")
            #expect(interrupted.lines.first == "status 0")
            #expect(interrupted.output.contains("segue: 3 messages recorded in whole.jsonl\n"))
            #expect(interrupted.lines.contains("state      whole"), "\(interrupted.output)")

            let killed = try await segue.shell("\(script)\nrecord KILL killed.jsonl 2>&1")
            #expect(killed.lines.contains("state      cut off") && killed.lines.contains("messages   3"))
            #expect(killed.output.contains("killed.jsonl has no end line, so its last messages may be missing"))
            let half = try await segue.shell(
                "head -c -9 killed.jsonl > half.jsonl; segue record info half.jsonl; segue replay half.jsonl --dry-run")
            #expect(half.status == 0 && half.output.contains("messages   2\n"))
            #expect(half.error.contains("half.jsonl:4: the recording was cut off in this line"))
            #expect(half.lines.filter { $0.contains(" event.") }.count == 2, "\(half.output)")
        }
    }

    @Test(
        "'segue replay' sends the recording in its order and speed, and can show it first", .timeLimit(.minutes(1)),
        arguments: BusEngine.allCases)
    func replay(engine: BusEngine) async throws {
        try await withRecording(engine) { segue in
            let dry = try await segue("replay", "story.jsonl", "--only", "event.A", "--dry-run")
            #expect(dry.lines.count == 2 && dry.lines[1].hasPrefix("3. ") && dry.lines[1].hasSuffix(#"→ {"n":3}"#))
            let terminal = try await segue.shell(
                "NO_COLOR=1 TERM=xterm script -qec 'segue replay story.jsonl --dry-run' /dev/null </dev/null")
            let told = terminal.output.split(whereSeparator: \.isNewline)
            #expect(told.count == 3 && told[2].hasPrefix("3. "), "\(terminal.output)")
            #expect(told[2].hasSuffix(" A n=3"), "\(terminal.output)")
            let fast = try await segue("replay", "story.jsonl", "--speed", "max", "--from", "2")
            #expect(fast.status == 0 && fast.error.hasPrefix("segue: 2 of 2 messages sent in "))
            let quick = try await segue("replay", "story.jsonl", "--speed", "1000", "--new-ids")
            #expect(quick.status == 0 && quick.error.hasPrefix("segue: 3 of 3 messages sent in "))
            let step = try await segue("replay", "story.jsonl", "--step", input: "\n\n")
            #expect(step.status == 1 && step.lines.count == 3)
            #expect(step.error.hasPrefix("segue: 2 of 3 messages sent in "), "\(step.error)")
            #expect(
                step.errorLines.last?.hasPrefix("segue: 1 message was not sent, because standard input ended") == true)
            let steps = try await segue("replay", "story.jsonl", "--step", "--from", "3", input: "\n")
            #expect(steps.status == 0 && steps.errorLines.count == 1)

            let all = try await segue("record", "all.jsonl", "--since", "beginning", "--until", "end")
            #expect(all.status == 0)
            let messages = try await segue.shell("segue replay all.jsonl --dry-run | sed 's/.*→ //'")
            #expect(messages.lines.joined() == [1, 2, 3, 2, 3, 1, 2, 3, 1, 2, 3].map { #"{"n":\#($0)}"# }.joined())
        }
    }

    @Test("Contradictory or invalid options are refused in one line", .timeLimit(.minutes(1)))
    func refused() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Self.line, to: "story.jsonl")
            for (arguments, reason) in [
                (["--speed", "0"], "it has to be max, or a number above zero as in 0.5"),
                (["--remap", "subject"], "it has to be changes of subject, platform, device or type, as in subject:"),
                (["--only", "a b"], "it has to be inputs, all, or types as in 'command.*'"),
                (["--from", "@x"], "it has to be a message's number, its id or the beginning of it, @OFFSET, a time"),
                (["--until", ""], "it has to be a message's number, its id or the beginning of it, @OFFSET, a time"),
                (["--step", "--dry-run"], "--step and --dry-run exclude each other"),
                (["--step", "--speed", "max"], "--step and --speed exclude each other"),
                (["--dry-run", "--speed", "2"], "--dry-run and --speed exclude each other"),
            ] {
                let result = try await segue.run(["replay", "story.jsonl"] + arguments)
                #expect(result.status == 64 && result.errorLines.count == 1, "\(arguments): \(result.error)")
                #expect(result.error.contains(reason), "\(arguments): \(result.error)")
            }
            let input = try await segue("replay", "-", "--step")
            #expect(input.status == 64 && input.error.contains("which is the recording here; name a file"))
            let missing = try await segue("replay", "story.jsonl", "--from", "nowhere", "--dry-run")
            #expect(missing.status == 65)
            #expect(
                missing.error
                    == "segue: story.jsonl has no message 'nowhere'; see 'segue record info story.jsonl'\n")
        }
    }

    /// A line of a recording, written by hand.
    private static let line =
        #"{"specversion":"1.0","id":"1","source":"x","type":"event.A","time":"2026-03-01T12:34:56Z"}"#

    @Test(
        "The help of 'segue record' and 'segue replay' has examples",
        arguments: [
            (["record"], "segue record info"), (["record", "to"], "segue record story.jsonl"),
            (["record", "info"], "segue record info"), (["replay"], "segue replay"), (["trace"], "segue trace"),
        ])
    func help(verb: [String], example: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let help = try await segue.run(verb + ["--help"])
            #expect(help.status == 0 && help.output.contains(example))
        }
    }
}
