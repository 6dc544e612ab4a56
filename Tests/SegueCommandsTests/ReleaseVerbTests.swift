import CommandLineTestSupport
import Testing

@Suite("'segue flow release'")
struct ReleaseVerbTests {
    private static let flow = """
        name: shop
        version: 1
        platform: ios
        start: list
        screens:
          list: { sends: [command.Open] }
          item: { sends: [command.Pay] }
          paid:
        transitions:
          - { on: command.Open, when: { root: list }, do: [{ push: item }] }
          - { on: command.Pay, when: { top: item }, do: [{ push: paid }] }
          - { on: event.Refused, when: { top: paid }, do: [{ pop: 1 }] }
        """

    private static let services = """
          ios:
            command: navigation-coordinator --flow old.yaml
            healthcheck: { test: [NOTIFY] }
            depends_on: { broker: { condition: service_healthy } }
        """

    /// Two sessions: one has paid, and one shows an item. No screen leaves, so no deadline ends while the test runs.
    private static let sessions = """
        for session in default s-2; do
            segue send event.LaunchFinished --session $session > sent
            segue send command.Open --platform ios --session $session > sent
        done
        segue send command.Pay --platform ios > sent
        until segue get NavigationState ios --json 2> none | grep -q '"screen":"paid"'; do :; done
        until segue get NavigationState ios --session s-2 --json 2> none | grep -q '"screen":"item"'; do :; done
        """

    @Test(
        "What people did is replayed from a bus, a recording and a journal", .timeLimit(.minutes(1)),
        arguments: BusEngine.allCases)
    func sources(engine: BusEngine) async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Self.flow, to: "old.yaml")
            try segue.write(Self.flow.replacing("version: 1", with: "version: 2"), to: "same.yaml")
            try segue.write(Self.flow.replacing("item", with: "article"), to: "renamed.yaml")
            try segue.write(engine.composeFile(services: Self.services))
            let up = try await segue("up", "-d", "--wait")
            try #require(up.status == 0, "\(up.error)")
            let sent = try await segue.shell(Self.sessions)
            try #require(sent.status == 0, "\(sent.error)")
            let recorded = try await segue("record", "story.jsonl", "--since", "beginning", "--until", "end")
            try #require(recorded.status == 0, "\(recorded.error)")

            var sources = [[], ["--recording", "story.jsonl"]]
            if engine == .broker {
                let found = try await segue.shell("find state -name journal.sqlite")
                sources.append(["--journal", try #require(found.lines.first)])
            }
            for source in sources {
                let same = try await segue.run(["flow", "release", "old.yaml", "same.yaml"] + source)
                #expect(same.status == 0, "\(same.output)\(same.error)")
                #expect(
                    same.lines.first?.contains("no recorded story takes this") == true, "event.Refused: \(same.output)")
                #expect(
                    same.lines.last == "nothing breaks: 2 sessions (2 of them open) with 5 stories and 5 messages",
                    "\(same.output)")
                let renamed = try await segue.run(["flow", "release", "old.yaml", "renamed.yaml"] + source)
                #expect(renamed.status == 1)
                #expect(
                    renamed.lines.contains {
                        $0.hasPrefix(
                            "on 'list', command.Open: 2 stories ended at list › item, and now at list › article")
                    }, "\(renamed.output)")
                #expect(
                    renamed.lines.contains { $0.hasPrefix("restoring 2 sessions loses: screen 'item' (such as ") },
                    "\(renamed.output)")
                #expect(renamed.lines.last?.hasPrefix("3 changes break") == true, "\(renamed.output)")
                let json = try await segue.run(["flow", "release", "old.yaml", "renamed.yaml", "--json"] + source)
                #expect(json.status == 1 && json.lines.last?.contains(#""openSessions":2"#) == true, "\(json.output)")
            }
        }
    }

    @Test("A source that cannot be read, or two of them, end the verb with a line")
    func mistakes() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Self.flow, to: "old.yaml")
            try segue.write(Self.flow.replacing("ios", with: "mac"), to: "mac.yaml")
            try segue.write("not a journal", to: "text")
            func failure(_ arguments: String...) async throws -> String {
                let result = try await segue.run(["flow", "release", "old.yaml"] + arguments)
                #expect(result.status != 0 && result.output.isEmpty)
                return result.error
            }
            #expect(try await failure("old.yaml", "--journal", "none").contains("there is no journal none"))
            #expect(try await failure("old.yaml", "--journal", "text").contains("text is not a journal"))
            #expect(try await failure("old.yaml", "--recording", "none").contains("there is no file none"))
            #expect(
                try await failure("old.yaml", "--recording", "r", "--journal", "j").contains("name one source"))
            #expect(try await failure("mac.yaml", "--journal", "text").contains("name two versions of one flow"))
        }
    }
}
