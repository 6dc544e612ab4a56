import CommandLineTestSupport
import Testing

@Suite("Deep links of docs/flows.md")
struct FlowsPageTests {
    @Test(
        "A link waits for the log-in and is followed after it, and a URL without a link is discarded",
        .timeLimit(.minutes(3)))
    func deepLink() async throws {
        try await SegueCommandLine.inRepository { segue in
            let section = try Page("docs/flows.md").section("How do I send a deep link?")
            let commands = section.blocks(of: "sh")
            try #require(commands.count == 3)
            let result = try await segue.shell("set -euo pipefail\n" + commands.joined())
            try #require(result.status == 0, "\(result.error)")
            #expect(result.output.split(separator: "\n").count { $0 == "focus://playlist/EndlessFocus" } == 2)
            let reason = try #require(section.blocks(of: "").first)
            #expect(result.output.contains(reason))
        }
    }
}
