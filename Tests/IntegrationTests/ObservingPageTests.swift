import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@Suite("Commands of docs/observing.md", .timeLimit(.minutes(3)))
struct ObservingPageTests {
    private static let path = "docs/observing.md"
    /// The section about the page in a browser. `PagePageTests` runs its commands.
    static let browserSection = "How do I see it in a browser?"

    /// The services of the tea timer.
    private static let services = """
          brewer: { command: brewer, healthcheck: &ready { test: [NOTIFY] }, depends_on: &bus [broker] }
          brew-coordinator:
            command: navigation-coordinator --flow config/flows/examples/brew.yaml
            healthcheck: *ready
            depends_on: *bus
        """

    /// Runs `body` in a new folder that contains the folders that the page names.
    private func inFolder(
        _ engine: BusEngine = .broker, _ body: (SegueCommandLine, Page) async throws -> Void
    ) async throws {
        try await SegueCommandLine.inScratch { segue in
            var segue = segue
            for folder in ["compose", "config"] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(segue.directory)/\(folder)", withDestinationPath: Repository.path(folder))
            }
            try segue.write(engine.composeFile(services: Self.services))
            segue.environment = ["COMPOSE_FILE": engine == .broker ? "compose/examples.yaml" : "compose.yaml"]
            try await body(segue, try Page(Self.path))
        }
    }

    /// What the commands with these ends print.
    private static var outputs: [(end: String, output: Regex<Substring>)] {
        [
            ("trace --last --all", #/(?s)^\* command\.AlertAnswered of brew .*─ event\.ScreenDismissed of brew /#),
            ("end --stats", #/^TYPE +COUNT +MSG/S +BYTES/S +P50 +P99 +GAPS +REMOVED\n/#),
            ("--interval 500ms --for 1s", #/"lag":0/#),
            ("--type command.BrewStarted", #/^[\d:.]+ command\.BrewStarted device/\w+ → \{"seconds":3\}\n$/#),
            ("--exclude '*.BrewEnded'", #/^\S+ event\.BrewBegan [^\n]*\n\S+ event\.BrewFinished [^\n]*\n$/#),
            ("--source 'device/*' --for 1s", #/ document\.Presence\[\w+\] brewer/\w+ → /#),
            ("--kind event --session default", #/ event\.BrewFinished /#),
            ("kind != event'", #/^\S+ command\.BrewStarted [^\n]*\n\S+ document\.Brew [^\n]*\n$/#),
            ("type --field data.seconds", #/(?s)^time,type,data\.seconds\n.*Z,command\.BrewStarted,3\n/#),
            ("--template '{time} {type} {data.seconds}'", #/(?m)^\S+Z command\.BrewStarted 3$/#),
            ("--raw", #/(?m)^\{"seconds":3\}$/#),
            ("describe command.BrewStarted", #/(?m)^received by +brewer$/#),
            ("record info tea.jsonl", #/(?s)state +whole\n.*missing +none\n.*command\.BrewStarted/#),
            ("record info -", #/standard input\nstate +whole\n/#),
            ("--dry-run", #/ command\.BrewStarted device//#),
            ("--session second -p replay", #/"session" : "second"/#),
            ("--recording tea.jsonl", #/event\.BrewBegan of menu-1: menu → push brewing-2 /#),
            ("--until 3s --json", #/"screen":"\w+"/#),
            ("ps --all", #/(?m)^brewer +ready /#),
            ("events --since 10m", #/brewer is ready after /#),
            ("logs -n 20 brewer", #/^brewer /#),
            ("segue services", #/(?m)^  handled  2, failed 0, lag 0$/#),
            ("consumer list", #/(?m)^brewer +\d+ +\d+ +brewer/\w+$/#),
            ("segue ls", #/segue-examples|demo/#),
        ]
    }

    @Test("The commands of the page run, and print what it shows", arguments: BusEngine.allCases)
    func commands(engine: BusEngine) async throws {
        try await inFolder(engine) { segue, page in
            let inBrowser = page.section(Self.browserSection).blocks(of: "sh")
            try #require(!inBrowser.isEmpty)
            let blocks = page.blocks(of: "sh").filter { !inBrowser.contains($0) }
            let commands = blocks.joined().split(separator: "\n").map(String.init)
            var states: [String] = []
            var checked: Set<String> = []
            for command in commands where !command.hasPrefix("export ") {
                // A monitor without an end runs until Ctrl-C.
                let result = try await segue.shell(command == "segue monitor" ? "\(command) --for 100ms" : command)
                #expect(result.status == 0, "\(command): \(result.error)")
                #expect(result.error.isEmpty || !command.hasPrefix("segue monitor"), "\(command): \(result.error)")
                for (end, output) in Self.outputs where command.hasSuffix(end) {
                    #expect(result.output.contains(output), "\(command): \(result.output)")
                    checked.insert(end)
                }
                if command.hasPrefix("segue get NavigationState brew") { states.append(result.output) }
            }
            #expect(checked.count == Self.outputs.count, "the page shows each command that is checked")
            // The replayed state, that with new ids, and the state of the stack that was recorded.
            try #require(states.count == 3)
            #expect(states[0] == states[2], "a replay reaches the recorded state")
        }
    }

    @Test("The conditions of the page are valid for a monitor")
    func conditions() async throws {
        try await SegueCommandLine.onBus { segue in
            let rows = try Page(Self.path).section("How do I look at single messages?").rows
            let expressions = rows.dropFirst().map { $0[0].trimmingCharacters(in: ["`"]) }
            #expect(expressions.count == 8)
            for expression in expressions {
                let result = try await segue("monitor", "--until", "end", "--where", expression)
                #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
            }
        }
    }

    // MARK: Samples

    @Test("The output on the page is that of a terminal of 100 columns")
    func samples() async throws {
        try await inFolder { segue, page in
            let sh = page.blocks(of: "sh")
            // The broker says that the device has ended.
            let told = try await segue.shell(
                """
                set -e; segue up -d --wait brewer brew-coordinator; \(sh[1])
                segue monitor --since beginning --type document.Presence --source broker -n 1
                """)
            try #require(told.status == 0, "\(told.error)")
            let happenings = try await PageSamples.lines(of: "segue monitor --since beginning --until end", segue)
            // The lines before are about the start of the stack. The device reports the launch and its own start at
            // once.
            let story = happenings.drop { !$0.contains(#/process device +started|launch +brew/#) }
            try PageSamples(path: Self.path).check(
                Array(story), try await PageSamples.lines(of: "segue trace --last --all", segue),
                try await PageSamples.lines(of: String(sh[4].dropLast()), segue))
        }
    }
}
