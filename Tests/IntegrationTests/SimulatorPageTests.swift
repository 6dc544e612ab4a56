import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@Suite("Commands of Sources/FocusPlayer/README.md about the simulator")
struct SimulatorPageTests {
    @Test("The commands of the page control a simulator with its catalogue", .timeLimit(.minutes(2)))
    func commands() async throws {
        let page = try Page("Sources/FocusPlayer/README.md")
        let blocks = ["What is the simulator?", "How do I make Spotify fail?"]
            .flatMap { page.section($0).blocks(of: "sh") }
        try #require(blocks.count == 3)
        let start = blocks[0].trimmingCharacters(in: .newlines).replacing("--port 8080", with: "--port 0")
        try await SegueCommandLine.inScratch { segue in
            try segue.write(try #require(page.blocks(of: "yaml").first), to: "catalogue.yaml")
            let script = """
                set -euo pipefail
                \(start) 2>simulator.log &
                trap "kill $!" EXIT
                until grep -q listening simulator.log; do sleep 0.05; kill -0 $!; done
                port=$(sed -n 's/.*http:..127\\.0\\.0\\.1:\\([0-9]*\\).*/\\1/p' simulator.log)
                \(blocks.dropFirst().joined(separator: "echo\n").replacing("8080", with: "$port"))
                """
            let result = try await segue.shell(script)
            #expect(result.status == 0, "\(result.output)\(result.error)")
            let state = try #require(page.blocks(of: "json").first)
            #expect(result.output.hasPrefix(state.trimmingCharacters(in: .newlines)), "\(result.output)")
            for expected in [
                #""premium":false"#, "429 Too Many Requests", "Retry-After: 2", #""remaining":3"#, #""account":"bob""#,
                #""context":"spotify:playlist:Calm""#, #""body":"truncated""#,
            ] {
                #expect(result.output.localizedCaseInsensitiveContains(expected), "\(result.output)")
            }
            #expect(result.output.hasSuffix(state.trimmingCharacters(in: .newlines)), "reset restores the state")
        }
    }

    @Test("The page has a command for every control route")
    func routes() throws {
        let page = try Page("Sources/FocusPlayer/README.md")
        let routes = try String(
            contentsOfFile: Repository.path("Sources/FocusPlayer/SpotifySimulator/HTTP/ControlRoutes.swift"),
            encoding: .utf8)
        let control = Set(routes.matches(of: #/`(?:GET|POST|DELETE) (/_control/[a-z]+)`/#).map { String($0.1) })
        #expect(control.count > 4)
        for route in control { #expect(page.text.contains("8080\(route)"), "\(route)") }
    }
}
