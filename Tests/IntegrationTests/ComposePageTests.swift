import CommandLineTestSupport
import Foundation
import Testing

@Suite("What docs/compose.md promises")
struct ComposePageTests {
    @Test("every promise names a test that is there")
    func tests() throws {
        let names = try Repository.testNames()
        let rows = try Page("docs/compose.md").rows
        let promises = rows.drop { $0.last != "test" }.dropFirst().prefix { $0.count == 2 }
        #expect(promises.count > 20)
        for promise in promises { #expect(names.contains(promise[1]), "no test is called '\(promise[1])'") }
    }

    @Test("the commands of its verbs run on the stack that stands before them", .timeLimit(.minutes(2)))
    func verbs() async throws {
        try await SegueCommandLine.inScratch { segue in
            let section = try Page("docs/compose.md").section("Verbs")
            try segue.write(try #require(section.blocks(of: "yaml").first))
            let commands = try #require(section.blocks(of: "sh").first)
            let result = try await segue.shell("set -euo pipefail; exec 2>&1\n\(commands)")
            #expect(result.status == 0, "\(result.output)")
            for line in ["web-2 starts", "job exited with status 0", "project 'verbs' is down"] {
                #expect(result.output.contains(line), "\(result.output)")
            }
        }
    }
}
