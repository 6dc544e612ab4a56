import CommandLineTestSupport
import Foundation
import Testing

@Suite("Measurements of docs/performance.md")
struct PerformancePageTests {
    @Test("The measurements of the page are those of the makefile")
    func measurements() async throws {
        let blocks = try Page("docs/performance.md").blocks(of: "sh")
        #expect(blocks.count >= 3)
        try await SegueCommandLine.inRepository { segue in
            // Running them takes minutes, and needs a release build.
            let commands = blocks.joined().replacing("make ", with: "make --dry-run ")
            let result = try await segue.shell("set -e\n\(commands)")
            #expect(result.status == 0, "\(result.error)")
            for command in ["segue bench publish.journalled --durability power --rounds 9", "scripts/footprint"] {
                #expect(result.output.contains(command))
            }
            #expect(result.output.contains("scripts/scale --counts 1000 --seconds 10"))
        }
    }
}
