import CommandLineTestSupport
import Navigation
import SampleFlows
import SegueTestSupport
import Support
import TestSupport
import Testing

@Suite("Deep links of the pages")
struct FlowsPageTests {
    @Test("The command of docs/flows.md leads the flow of the page to an item", .timeLimit(.minutes(3)))
    func command() async throws {
        try await SegueCommandLine.inScratch { segue in
            let page = try Page("docs/flows.md")
            try segue.write(FlowsPage(text: page.text).wholeShop, to: "shop.yaml")
            let commands = page.section("Which URLs lead to which screens?").blocks(of: "sh")
            try #require(commands.count == 1)
            let coordinator = TestService(
                "shop-coordinator", command: ["navigation-coordinator", "--flow", "\(segue.directory)/shop.yaml"],
                after: ["broker"])
            try await TestStack.with([.broker, coordinator]) { stack in
                var segue = segue
                segue.environment["SEGUE_BUS"] = stack.busAddress
                let result = try await segue.shell("set -euo pipefail\n\(commands[0])")
                try #require(result.status == 0, "\(result.error)")
                let state = try await stack.screen("item", on: "ios").state
                #expect(state.top.arguments == ["itemID": "5", "pieces": 1])
            }
        }
    }

    @Test(
        "In the focus player, a link waits for the log-in and is followed after it, and a URL without a link is discarded",
        .timeLimit(.minutes(3)))
    func focusPlayer() async throws {
        try await SegueCommandLine.inRepository { segue in
            let section = try Page("Sources/FocusPlayer/README.md").section("How do I follow a deep link?")
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
