import CommandLineTestSupport
import Compose
import Foundation
import TestSupport
import Testing

/// Runs the commands of a section in a new folder that contains the page's first compose file.
@Suite("Commands of docs/running.md")
struct RunningPageTests {
    private let page: Page

    init() throws {
        page = try Page("docs/running.md")
    }

    @Test("The commands about the file print what the page shows", .timeLimit(.minutes(2)))
    func file() async throws {
        let output = try await run("How do I describe a stack?")
        #expect(output.contains("somebody imports from http://127.0.0.1:"))
    }

    @Test("The commands about variables print what the page shows")
    func variables() async throws {
        let output = try await run("How do I use variables in the file?")
        #expect(output.contains("\nUSER_NAME       -           somebody  no\n"))
        #expect(output.contains("WHO: ann"))
    }

    @Test("The commands about several files print what the page shows")
    func severalFiles() async throws {
        let section = page.section("How do I combine several files?")
        let output = try await run(
            "How do I combine several files?", files: ["debug.yaml": try #require(section.blocks(of: "yaml").first)])
        #expect(output.contains("- '500'") && output.contains("LEVEL: debug") && !output.contains("replicas"))
        let include = try #require(section.blocks(of: "yaml").last)
        try await SegueCommandLine.inScratch { segue in
            _ = try await segue.shell("mkdir bus music app")
            try segue.write("services: {a: {command: a}}", to: "bus/compose.yaml")
            try segue.write(include, to: "app/compose.yaml")
            try segue.write("services: {b: {command: $WHAT}}", to: "app/music.yaml")
            try segue.write("services: {b: {scale: 2}}", to: "app/music.local.yaml")
            try segue.write("WHAT=play", to: "app/music.env")
            let config = try await segue("config", "-f", "app/compose.yaml")
            #expect(config.output.contains("- play") && config.output.contains("\(segue.directory)/music\n"))
        }
    }

    @Test("The commands about profiles print what the page shows")
    func profiles() async throws {
        #expect(
            try await run("How do I start only some services?").split(separator: "\n") == [
                "store", "import", "api", "store", "import", "api", "debugger", "debugger",
            ])
    }

    @Test("The commands about readiness and health print what the page shows", .timeLimit(.minutes(2)))
    func health() async throws {
        let title = "When is a service ready, and when is it healthy?"
        let output = try await run(
            title, files: ["health.yaml": try #require(page.section(title).blocks(of: "yaml").first)])
        #expect(output.contains("store is unhealthy: exited with status 1"))
    }

    @Test("The commands about logs and events print what the page shows", .timeLimit(.minutes(2)))
    func logsAndEvents() async throws {
        let title = "Where are the logs and events?"
        let output = try await run(title)
        #expect(output.contains(/import +\| somebody imports from http:/))
        #expect(output.contains("Z store is ready after "))
        #expect(output.contains(#""action":"starting","attributes":{},"instance":"api-2""#))
        let shown = page.section(title).rows.flatMap { $0[0].matches(of: #/`(\w+)`/#).map { String($0.1) } }
        #expect(
            Set(shown) == Set(ProjectEvent.Action.allCases.map(\.rawValue)), "the table has every action, and no other")
    }

    @Test("The mistakes that the page lists are refused as it shows")
    func refused() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(
                """
                name: shop
                services:
                  store:
                    command: x
                    # a comment
                    image: redis
                  api:
                    command: x
                    enviroment: {}
                """)
            let shown = page.section("What is refused?").text.split(separator: "\n").filter { $0.hasPrefix("    ") }
            let told = try await segue("config").errorLines
            #expect(told == shown.map { "segue: \($0.dropFirst(4))" })
        }
    }

    @Test("The commands about systemd print what the page shows")
    func systemd() async throws {
        let output = try await run("How do I run a stack under systemd?")
        #expect(output.contains("segue: port 'api' is 8123; choose another port with --port api=NUMBER\n"))
    }

    @Test("The commands of the list of verbs run on the stack above them", .timeLimit(.minutes(2)))
    func verbs() async throws {
        try await SegueCommandLine.inScratch { segue in
            let section = page.section("Which commands are there?")
            try segue.write(try #require(section.blocks(of: "yaml").first))
            let commands = try #require(section.blocks(of: "sh").first)
            let result = try await segue.shell("set -euo pipefail; exec 2>&1\n\(commands)")
            #expect(result.status == 0, "\(result.output)")
            for line in ["web-2 starts", "job exited with status 0", "project 'verbs' is down"] {
                #expect(result.output.contains(line), "\(result.output)")
            }
        }
    }

    /// - Returns: The output of the section's commands.
    private func run(_ title: String, files: [String: String] = [:]) async throws -> String {
        var output = ""
        try await SegueCommandLine.inScratch { segue in
            try segue.write(try #require(page.section("How do I describe a stack?").blocks(of: "yaml").first))
            for (name, text) in files { try segue.write(text, to: name) }
            for block in page.section(title).blocks(of: "sh") {
                let result = try await segue.shell("set -euo pipefail; exec 2>&1\n\(block)")
                try #require(result.status == 0, "\(block)\n\(result.output)")
                output += result.output
            }
        }
        return output
    }
}
