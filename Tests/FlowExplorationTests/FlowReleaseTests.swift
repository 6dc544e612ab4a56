import FlowExploration
import FlowFiles
import FlowReview
import Navigation
import SampleFlows
import Support
import Testing

@Suite("The gate before a release")
struct FlowReleaseTests {
    /// Plays the recorded sessions to a next version. Each is still open at its end.
    static func report(of new: Flow) throws -> ReleaseReport {
        let old = try ShippedFlows.flow("ios")
        var release = FlowRelease(from: old, to: new)
        for (index, steps) in ReleaseEdit.stories.enumerated() {
            let session = "s-\(index + 1)"
            let scenario = try Scenario(yaml: steps.joined(separator: "\n"), file: "story.yaml", flow: old)
            var machine = Machine(flow: old, session: session)
            release.begin(with: machine.snapshot)
            for outcome in scenario.play(on: old) {
                #expect(outcome.failures.isEmpty, "\(steps)")
                for input in outcome.messages {
                    var input = input
                    input.subject = session
                    _ = machine.handle(input)
                    release.add(input)
                }
            }
            release.restore(machine.snapshot)
        }
        release.endAll()
        return release.report
    }

    @Test("A change that breaks what people did is found", arguments: ReleaseEdit.breaking)
    func breaking(_ edit: ReleaseEdit) throws {
        #expect(try !Self.report(of: edit.apply()).isClean)
    }

    @Test(
        "A change after which everybody ends where they ended before is not reported", arguments: ReleaseEdit.harmless)
    func harmless(_ edit: ReleaseEdit) throws {
        let report = try Self.report(of: edit.apply())
        #expect(report.isClean, "\(report.lines.map(\.description))")
    }

    @Test("The same version changes nothing, and the sessions take all of its rules")
    func same() throws {
        let report = try Self.report(of: ShippedFlows.flow("ios"))
        #expect(
            report.isClean && report.cover.missing.isEmpty, "\(report.lines.map(\.description)) \(report.cover.missing)"
        )
        #expect(
            report.sessionCount == ReleaseEdit.stories.count && report.livingCount == report.sessionCount
                && report.otherVersionCount == 0)
        #expect(ReleaseEdit.breaking.count >= 20 && ReleaseEdit.harmless.count >= 20)
    }

    @Test("A difference is counted once, and the replay goes on after it, also with instances of other names")
    func several() throws {
        let edit = ReleaseEdit(
            "Another URL, and another way to the same screen", ("openURL: ${data.url}", "openURL: https://example.com"),
            ("- setRoot: playlistSelection", "- setRoot: serviceSelection\n      - setRoot: playlistSelection"))
        let report = try Self.report(of: edit.apply())
        #expect(report.losses.isEmpty)
        let counts = report.changes.map { ($0.cause, $1.count) }.sorted { $0.0 < $1.0 }
        #expect(counts.map(\.0) == ["command.OpenAnotherAppRequested", "event.SpotifyAuthURLGenerated"])
        let consents = ReleaseEdit.stories.filter { $0.contains { $0.contains("AuthURLGenerated, platform: ios") } }
            .count
        #expect(counts.map(\.1) == [1, consents])
    }
}
