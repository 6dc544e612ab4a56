import CommandLineTestSupport
import Foundation
import SampleFlows
import TestSupport
import Testing

@Suite("Commands of the documents")
struct DocumentTests {
    @Test(
        "The story of the focus player runs line by line as written, twice on the same stack",
        .timeLimit(.minutes(5)))
    func story() async throws {
        try await SegueCommandLine.inRepository { segue in
            let story = try #require(try Page("Sources/FocusPlayer/README.md").blocks(of: "sh").first)
            try await run("segue up -d --wait -f compose/default.yaml", segue)
            // Runs the story twice. Neither run may show the results of the other.
            var loaded: Set<String> = []
            for _ in 1...2 {
                let output = try await run(story, segue)
                for expected in [
                    "authorized", "Spotify is connected", "Endless Focus", "event.PlaylistShuffled",
                    #""songs":[{"#, "event.PlaybackStarted", "generatedPlaylist", "deauthorized",
                ] {
                    #expect(output.contains(expected), "\(output)")
                }
                let lines = output.split(separator: "\n").map(String.init)
                loaded.formUnion(lines.filter { $0.contains("event.PlaylistsLoaded") })
            }
            #expect(loaded.count == 2, "\(loaded)")
            // As the page says, the same commands work for the app of another user.
            let another = try await run(
                #"segue() { command segue "$@" --session anna; }"# + "\n"
                    + story.replacing("&decision=approve", with: "&decision=approve&account=night")
                    .replacing("EndlessFocus", with: "LateShift"), segue)
            for expected in ["authorized", "Late Shift", #""songs":[{"#, "event.PlaybackStarted", "deauthorized"] {
                #expect(another.contains(expected), "\(another)")
            }
            #expect(!another.contains("Endless Focus"))
        }
    }

    @Test("The commands that 'make run' prints can be pasted into terminals of their own", .timeLimit(.minutes(5)))
    func suggestions() async throws {
        try await SegueCommandLine.inRepository { segue in
            try await run("segue up -d --wait -f compose/default.yaml", segue)
            // The Makefile writes a dollar sign twice.
            let environment = #"export PATH="$PWD/.build/debug:$PATH""#
            let makefile = try Page("Makefile").text.replacing("$(BIN)", with: ".build/debug")
            #expect(makefile.contains("s|{environment}|\(environment.replacing("$", with: "$$"))|"))
            let paragraphs = try Page("docs/try.txt").text.replacing("{environment}", with: environment)
                .split(separator: "\n\n")
            let parts = paragraphs.filter { $0.hasPrefix("    ") }.map(String.init)
            try #require(parts.count == 4)
            let outputs = ["music-service", "document.NavigationState", "Choose a music service", "http://127.0.0.1:"]
            for (part, expected) in zip(parts, outputs) {
                // Replaces commands that run until a person ends them.
                let ending = part.replacing("logs -f", with: "logs")
                    .replacing("segue open ", with: "segue open --address ")
                    .replacing("segue monitor ", with: "segue monitor --since beginning --until end ")
                    .replacing("focus-player ", with: "echo @serviceSelection | focus-player ")
                let output = try await run("export PATH=/usr/bin:/bin\n\(ending)", segue)
                #expect(output.contains(expected), "\(output)")
            }
        }
    }

    @Test("A user at the terminal device gets from the launch to the music", .timeLimit(.minutes(5)))
    func device() async throws {
        try await SegueCommandLine.inRepository { segue in
            try segue.write(
                #"exec curl --silent --location --data "${1#*\?}&decision=approve" "${1%%\?*}""#, to: "browser")
            try await run("segue up -d --wait -f compose/default.yaml", segue)
            // The other platform follows by itself. It may still be behind when this device shows the playlists,
            // and the monitor would then show its change of screen among those of the next tap.
            let arrived = #"'data.platform == "mac" and data.state.root.screen == "playlistSelection"'"#
            let output = try await run(
                """
                { echo 'Connect Spotify'
                  segue monitor --since beginning --count 1 --where \(arrived) >/dev/null
                  echo 'Endless Focus'
                  segue monitor --type event.PlaylistShuffled --since beginning --count 1 >/dev/null
                  echo 'Play on Spotify'
                } | focus-player --platform ios --open "sh \(segue.directory)/browser"
                segue monitor --type event.PlaybackStarted --since beginning --count 1
                segue get NavigationState mac --json
                """, segue)
            #expect(output.contains("event.PlaybackStarted"))
            #expect(output.contains(#""screen":"generatedPlaylist""#), "the other platform follows")
            let page = try Page("Sources/FocusPlayer/README.md").section("What if the log-in page does not open?")
            let url = try await run(try #require(page.blocks(of: "sh").first), segue)
            #expect(url.contains("redirect_uri=http"), "\(url)")
            // The README shows the lines of one tap.
            let happenings = try await PageSamples.lines(of: "segue monitor --since beginning --until end", segue)
            let start = try #require(happenings.firstIndex { $0.contains(#/ tap .* PlaylistSelected /#) })
            let tap = happenings[start...].prefix(1) + happenings[(start + 1)...].prefix { $0.hasPrefix(" ") }
            try PageSamples(path: "README.md").check(Array(tap))
            // They name the rule that the README shows.
            let rule = try #require(try Page("README.md").blocks(of: "yaml").first)
            let flow = try String(contentsOfFile: Repository.path("config/flows/ios.yaml"), encoding: .utf8)
            let ruleStart = try #require(flow.range(of: rule)).lowerBound
            let line = flow[..<ruleStart].count { $0 == "\n" } + 1
            #expect(tap.contains { $0.hasSuffix(" ios.yaml:\(line)") })
            // The page about concepts shows the message of the tap.
            let concepts = try Page("docs/concepts.md")
            let message = try await run(try #require(concepts.blocks(of: "sh").first), segue)
            let sample = try #require(concepts.blocks(of: "json").first)
            #expect(try Self.members(of: message) == Self.members(of: sample))
        }
    }

    @Test("The flow and the scenario of docs/flows.md pass the commands that the page shows")
    func flows() async throws {
        try await SegueCommandLine.inScratch { segue in
            let page = try Page("docs/flows.md")
            let samples = FlowsPage(text: page.text)
            try segue.write(samples.shop, to: "shop.yaml")
            try segue.write(samples.scenario, to: "story.yaml")
            let commands = page.section("How do I check a flow?").blocks(of: "sh")
            let output = try await run(try #require(commands.first), segue)
            #expect(!output.split(separator: "\n").contains { $0.hasPrefix("shop.yaml:") }, "there is nothing to find")
            #expect(output.contains("4. command.BackCompleted of item-2: item → back to list-1"))
            let svg = try String(contentsOfFile: segue.directory + "/shop.svg", encoding: .utf8)
            #expect(svg.contains(">rating<"))
        }
    }

    @Test("The examples run as their page shows, command by command", .timeLimit(.minutes(5)))
    func examples() async throws {
        try await SegueCommandLine.inRepository { segue in
            var segue = segue
            segue.environment["COMPOSE_FILE"] = "compose/examples.yaml"
            let blocks = try Page("docs/programs.md").blocks(of: "sh")
            try #require(blocks.count == 6)
            #expect(blocks[0].contains("COMPOSE_FILE=compose/examples.yaml\n"))
            // Each block runs in a shell of its own, as for a reader who continues in another terminal.
            let path = blocks[0].split(separator: "\n").first { $0.hasPrefix("segue up") } ?? ""
            try await run(String(path), segue)
            let onboarding = try await run(blocks[1], segue)
            for expected in ["Your name is missing.", "Welcome", "Ann Lee", "solo"] {
                #expect(onboarding.contains(expected), "\(onboarding)")
            }
            let threeScreens = try await run(blocks[2], segue)
            for expected in ["The second", "The third", "document.Timer"] {
                #expect(threeScreens.contains(expected), "\(threeScreens)")
            }
            let brew = try await run(blocks[3], segue)
            for expected in ["event.BrewBegan", "command.BrewElapsed", "event.BrewFinished"] {
                #expect(brew.contains(expected), "\(brew)")
            }
            let routing = try await run(blocks[4], segue)
            for expected in ["Departures", "Route", "YRK"] {
                #expect(routing.contains(expected), "\(routing)")
            }
            try await run(blocks[5], segue)
        }
    }

    @Test("The commands of docs/contracts.md print what the page shows", .timeLimit(.minutes(5)))
    func contracts() async throws {
        try await SegueCommandLine.inScratch { segue in
            // The commands write files, so they run in a folder with links to the project's folders.
            for folder in ["compose", "config"] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(segue.directory)/\(folder)", withDestinationPath: Repository.path(folder))
            }
            let blocks = try Page("docs/contracts.md").blocks(of: "sh")
            try #require(blocks.count == 5)
            let exported = try await run(blocks[0], segue)
            #expect(exported.contains(#""name" : "music-service""#))
            #expect(try await run(blocks[1], segue) == "", "nothing breaks")
            try await run("segue up -d --wait -f compose/default.yaml", segue)
            let sent = try await run(blocks[2], segue)
            #expect(sent.contains("data.playlistId: unknown field; did you mean 'playlistID'?"))
            #expect(sent.split(separator: "\n").count { $0 == "status 65" } == 2)
            #expect(sent.contains("standard input:2: command.PlaylistSelected: data.playlistID: expected a string"))
            let check = try await run(blocks[3], segue)
            #expect(
                check == String(repeating: "no findings in config/flows/ios.yaml, config/flows/mac.yaml\n", count: 2))
            let explored = try await run(blocks[4], segue)
            #expect(explored.hasPrefix("no findings in ") && explored.hasSuffix(" only as answers of services\n"))
        }
    }

    @Test(
        "Every verb in the documents exists",
        arguments: [
            "README.md", "CONTRIBUTING.md", "Sources/FocusPlayer/README.md", "docs/try.txt", "docs/start.md",
            "docs/running.md", "docs/concepts.md", "docs/flows.md", "docs/bus.md", "docs/faults.md",
            "docs/flow-keys.md", "docs/programs.md", "docs/contracts.md", "docs/observing.md", "docs/services.md",
            "docs/deploying.md",
        ])
    func verbs(path: String) async throws {
        let verbs = Set(try Page(path).text.matches(of: #/\bsegue ([a-z]+)\b/#).map { String($0.1) })
        try await SegueCommandLine.inScratch { segue in
            for verb in verbs {
                let help = try await segue(verb, "--help")
                #expect(help.status == 0, "segue \(verb)")
            }
        }
    }

    /// The names of the members of a JSON object.
    private static func members(of text: String) throws -> Set<String> {
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return Set(try #require(object as? [String: Any]).keys)
    }

    /// Runs the lines. All of them must succeed.
    /// - Returns: The output of the lines.
    @discardableResult
    private func run(_ lines: String, _ segue: SegueCommandLine) async throws -> String {
        let result = try await segue.shell("set -euo pipefail; exec 2>&1\n\(lines)")
        let logs = result.status == 0 ? "" : try await segue.shell("segue ps; segue logs").output
        try #require(result.status == 0, "\(lines)\n\(result.output)\n\(logs)")
        return result.output
    }
}
