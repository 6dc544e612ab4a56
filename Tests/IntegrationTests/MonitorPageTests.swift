import CommandLineTestSupport
import Foundation
import Testing

@Suite("What docs/monitor.md shows")
struct MonitorPageTests {
    /// A bus with what the page sends first.
    private func onBus(_ body: (SegueCommandLine, Page) async throws -> Void) async throws {
        try await SegueCommandLine.inScratch { segue in
            let page = try Page("docs/monitor.md")
            try segue.write("services: {broker: {command: broker, healthcheck: {test: [NOTIFY]}}}")
            let first = try #require(page.blocks(of: "sh").first)
            let result = try await segue.shell("set -e; segue up -d --wait; \(first)")
            try #require(result.status == 0, "\(result.error)")
            try await body(segue, page)
        }
    }

    @Test("runs, command by command", .timeLimit(.minutes(2)))
    func commands() async throws {
        try await onBus { segue, page in
            let commands = page.blocks(of: "sh").dropFirst().flatMap { $0.split(separator: "\n").map(String.init) }
            #expect(commands.count > 15)
            for command in commands {
                // What would go on until somebody presses Ctrl-C.
                let isEndless = !command.contains(#/--until|--count|--for|top/#)
                let result = try await segue.shell(isEndless ? "\(command) --for 100ms" : command)
                #expect(result.status == 0 && result.error.isEmpty, "\(command): \(result.error)")
                // What begins now, or ended long ago, has nothing to show here.
                let showsAll = command.contains("--since beginning") || command.contains("top")
                #expect(!result.output.isEmpty || !showsAll, "\(command)")
            }
        }
    }

    @Test("prints what the page says of it", .timeLimit(.minutes(1)))
    func output() async throws {
        try await onBus { segue, page in
            let commands = page.blocks(of: "sh").joined().split(separator: "\n").map(String.init)
            for (part, output) in [
                (
                    "--where 'data.playlistID",
                    #/^[\d:.]+ command\.PlaylistSelected segue/\w+ → \{"playlistID":"p1"\}\n$/#
                ),
                ("--field data.playlistID", #/^p1\np1\n\n$/#),
                ("--csv", #/^time,type,data.songs\[1\].title\n.*,\n.*,Two\n/#),
                ("--template", #/^\S+Z command.PlaylistSelected p1\n/#),
                ("--raw", #/^\{"playlistID":"p1","songs".*\}\n$/#),
                ("--until end --stats", #/^TYPE +COUNT +MSG/S +BYTES/S +P50 +P99 +GAPS +REMOVED\n/#),
            ] {
                let command = try #require(commands.first { $0.contains(part) })
                let result = try await segue.shell(command)
                #expect(result.output.contains(output), "\(command): \(result.output)")
            }
        }
    }

    @Test("has conditions and mistakes as the page shows them", .timeLimit(.minutes(1)))
    func conditions() async throws {
        try await onBus { segue, page in
            let section = try #require(
                page.text.split(separator: "\n## Conditions\n").last?.split(separator: "\n## ").first)
            let expressions = section.matches(of: #/(?m)^\| `([^`]+)` \|/#).map { String($0.1) }
            #expect(expressions.count == 10)
            for expression in expressions {
                let result = try await segue("monitor", "--until", "end", "--where", expression)
                #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
            }
            let mistake = try await segue("monitor", "--where", "data.playlistID ==")
            #expect(section.contains("      \(mistake.error)"))
        }
    }
}
