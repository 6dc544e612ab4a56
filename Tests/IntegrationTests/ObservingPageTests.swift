import CommandLineTestSupport
import Foundation
import Testing

@Suite("What docs/observing.md shows", .timeLimit(.minutes(3)))
struct ObservingPageTests {
    private static let path = "docs/observing.md"

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
            ("--kind event --subject default", #/ event\.BrewFinished /#),
            ("kind != event'", #/^\S+ command\.BrewStarted [^\n]*\n\S+ document\.Brew [^\n]*\n$/#),
            ("end --field data.seconds", #/(?m)^3$\n(?:\n)*^3$/#),
            ("type --field data.seconds", #/(?s)^time,type,data\.seconds\n.*Z,command\.BrewStarted,3\n/#),
            ("--template '{time} {type} {data.seconds}'", #/(?m)^\S+Z command\.BrewStarted 3$/#),
            ("--raw", #/(?m)^\{"seconds":3\}$/#),
            ("describe command.BrewStarted", #/(?m)^received by +brewer$/#),
            ("record info tea.jsonl", #/(?s)state +whole\n.*missing +none\n.*command\.BrewStarted/#),
            ("record info -", #/standard input\nstate +whole\n/#),
            ("--dry-run", #/ command\.BrewStarted device//#),
            ("--subject second -p replay", #/"session" : "second"/#),
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

    @Test("runs, command by command, and prints what the page says of it", arguments: BusEngine.allCases)
    func commands(engine: BusEngine) async throws {
        try await inFolder(engine) { segue, page in
            let commands = page.blocks(of: "sh").joined().split(separator: "\n").map(String.init)
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

    @Test("has conditions that a monitor understands")
    func conditions() async throws {
        try await SegueCommandLine.onBus { segue in
            let rows = try Page(Self.path).section("How do I look at single messages?").rows
            let expressions = rows.dropFirst().map { $0[0].trimmingCharacters(in: ["`"]) }
            #expect(expressions.count == 10)
            for expression in expressions {
                let result = try await segue("monitor", "--until", "end", "--where", expression)
                #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
            }
        }
    }

    // MARK: Samples

    @Test("is what the commands print on a terminal of 100 columns")
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
            let happenings = try await shown(by: "segue monitor --since beginning --until end", segue)
            // The lines before are about the start of the stack.
            let story = happenings.drop { !$0.contains(#/process device +started/#) }
            let tree = try await shown(by: "segue trace --last --all", segue)
            let message = try await shown(by: String(sh[4].dropLast()), segue)
            let outputs = [Array(story), tree, message].map { $0.map { $0 + "\n" }.joined() }
            let blocks = page.blocks(of: "")
            try #require(blocks.count == outputs.count)
            guard ProcessInfo.processInfo.environment["SEGUE_RENEW_PAGES"] == nil else {
                return try renew(page, blocks, with: outputs)
            }
            for (block, output) in zip(blocks, outputs) {
                #expect(
                    Self.filled(output, from: block) == block,
                    "SEGUE_RENEW_PAGES=1 scripts/test --filter ObservingPageTests writes the blocks of the page anew")
            }
        }
    }

    /// The lines that a command writes to a terminal.
    private func shown(by command: String, _ segue: SegueCommandLine) async throws -> [String] {
        var terminal = segue
        terminal.environment.merge(["TERM": "xterm", "NO_COLOR": "1"]) { $1 }
        try segue.write("stty cols 100; \(command) 2>/dev/null", to: "command.sh")
        let result = try await terminal.shell("script -qec 'bash command.sh' /dev/null </dev/null")
        try #require(result.status == 0, "\(command): \(result.output)")
        return result.output.split(separator: "\r\n").map { String($0).replacing(#/ +$/#, with: "") }
    }

    /// Times, the time since another message at the beginning of a line or in it, the instance of a process, the end of
    /// a story's id, and a trace id.
    private static var varying: Regex<Substring> {
        #/(?m)^ +\+\d+ ms|\+?\d+ ms|(?:[\d-]{10}T)?[\d:]{8}\.\d{3}Z?|\/[\da-f]{8}\b|#[\da-f]+-[\da-f]+|\b[\da-f]{32}\b/#
    }

    /// The output of a command, in which what differs from run to run is replaced by what the page has there.
    private static func filled(_ output: String, from block: String) -> String {
        var values = block.matches(of: varying).map(\.output)[...]
        return output.replacing(varying) { match in
            guard let value = values.popFirst() else { return match.output }
            // The times at the beginning of a line are a column.
            return match.output.hasPrefix(" ") && value.count != match.output.count ? match.output : value
        }
    }

    private func renew(_ page: Page, _ blocks: [String], with outputs: [String]) throws {
        var (text, place) = (page.text, page.text.startIndex)
        for (block, output) in zip(blocks, outputs) {
            let range = try #require(text[place...].firstRange(of: "\n```\n\(block)```\n"))
            let start = text.distance(from: text.startIndex, to: range.lowerBound)
            text.replaceSubrange(range, with: "\n```\n\(output)```\n")
            place = text.index(text.startIndex, offsetBy: start + output.count + 8)
        }
        try text.write(toFile: Repository.path(Self.path), atomically: true, encoding: .utf8)
    }
}
