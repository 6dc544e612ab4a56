import CommandLineTestSupport
import EventBus
import Foundation
import Testing

@Suite("What docs/monitor.md shows")
struct MonitorPageTests {
    enum Stack: String, CaseIterable {
        /// A broker and a service.
        case bare
        /// The same on a server of NATS.
        case nats
        /// The stack that `make run` starts.
        case shipped
    }

    private static let notifier = """
          error-notifier:
            command: error-notifier
            healthcheck: {test: [NOTIFY]}
            depends_on: {broker: {condition: service_healthy}}
        """

    /// Runs a stack with the messages that the page sends first.
    private func onBus(
        of stack: Stack = .bare, _ body: (SegueCommandLine, Page) async throws -> Void
    ) async throws {
        try await SegueCommandLine.inScratch { segue in
            var segue = segue
            let page = try Page("docs/monitor.md")
            switch stack {
            case .bare: try segue.write(BusEngine.broker.composeFile(services: Self.notifier))
            case .nats: try segue.write(BusEngine.nats.composeFile(services: Self.notifier))
            case .shipped: segue.workingDirectory = Repository.path("")
            }
            let first = try #require(page.blocks(of: "sh").first)
            let result = try await segue.shell("set -e; segue up -d --wait; \(first)")
            try #require(result.status == 0, "\(result.error)")
            // The durable consumer of the page that no process runs.
            try await segue.withConnection { _ = try await $0.engine.claim(consumer: "kiosk-service", as: .exclusive) }
            try await body(segue, page)
        }
    }

    @Test("runs, command by command", .timeLimit(.minutes(2)), arguments: Stack.allCases)
    func commands(stack: Stack) async throws {
        try await onBus(of: stack) { segue, page in
            let commands = page.blocks(of: "sh").dropFirst().flatMap { $0.split(separator: "\n").map(String.init) }
            #expect(commands.count > 15)
            for command in commands {
                // Commands that run until Ctrl-C end after 100 ms.
                let isEndless = command.hasPrefix("segue monitor") && !command.contains(#/--until|--count|-n |--for/#)
                let result = try await segue.shell(isEndless ? "\(command) --for 100ms" : command)
                #expect(result.status == 0 && result.error.isEmpty, "\(command): \(result.error)")
                // Commands that show only new messages, or only messages of a time in the past, show none here.
                let showsAll = command.contains("--since beginning") || command.contains("top")
                #expect(!result.output.isEmpty || !showsAll, "\(command)")
            }
        }
    }

    @Test("prints what the page says of it", .timeLimit(.minutes(1)), arguments: Stack.allCases)
    func output(stack: Stack) async throws {
        try await onBus(of: stack) { segue, page in
            let commands = page.blocks(of: "sh").joined().split(separator: "\n").map(String.init)
            for (part, output) in [
                ("consumer list", #/(?m)^kiosk-service +0 +\d+ +no process$/#),
                (
                    "--where 'data.songID",
                    #/^[\d:.]+ command\.SongRequested segue/\w+ → \{"songID":"s1"\}\n$/#
                ),
                ("--field data.songID", #/(?m)^s1$\n(?:\n)*^s1$/#),
                (
                    "--csv",
                    #/(?s)^time,type,data.songs\[1\].title\n.*,command.SongRequested,\n.*,event.SongsQueued,Two\n/#
                ),
                ("--template", #/(?m)^\S+Z command.SongRequested s1$/#),
                ("--raw", #/(?m)^\{"songID":"s1","songs".*\}$/#),
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
                page.text.split(separator: "\n## Which conditions can I write?\n").last?
                    .split(separator: "\n## ").first)
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
