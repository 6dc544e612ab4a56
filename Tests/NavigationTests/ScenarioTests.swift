import Foundation
import Navigation
import Testing

@Suite("A scenario")
struct ScenarioTests {
    @Test("of each shipped flow tells its whole story", arguments: ["ios", "mac"])
    func shipped(platform: String) throws {
        let flow = try FlowFiles.flow(platform)
        let scenario = try FlowFiles.scenario(platform, for: flow)
        let outcomes = scenario.play(on: flow)
        #expect(outcomes.count == scenario.steps.count)
        #expect(outcomes.flatMap(\.failures).isEmpty, "\(outcomes.last?.description ?? "")")
        #expect(outcomes == scenario.play(on: flow), "the same again")
        // Whatever leads to a screen is part of the story.
        let seen = outcomes.flatMap { $0.changes.values }.map(\.description).joined()
        for screen in flow.screens.keys { #expect(seen.contains(screen)) }
    }

    @Test("fails where it is not all that happens that is expected, and says at which line and column")
    func unexpected() throws {
        let failures = try failures(
            """
            - send: event.LaunchFinished
              expect:
                root: launch
                leaving: [launch, serviceSelection]
            """)
        #expect(
            failures == [
                """
                story.yaml:3:5: 'root' is not what was expected
                  - root: [launch]
                  + root: [serviceSelection-2]
                """,
                """
                story.yaml:4:5: 'leaving' is not what was expected
                  - leaving: [launch, serviceSelection]
                  + leaving: [launch-1]
                """,
                """
                story.yaml:2:3: nothing was expected of 'dismissed'
                  + dismissed: [launch-1]
                """,
            ])
    }

    @Test("asks nothing of a step without expectations, and that nothing happens of an empty one")
    func nothing() throws {
        #expect(try failures("- send: event.LaunchFinished").isEmpty)
        #expect(try failures("- { send: event.LaunchFinished, expect: }").count == 3)
        #expect(try failures("- { send: event.LaunchFinished, expect: {} }").count == 3)
        #expect(try failures("- { send: event.Unheard, expect: {} }").isEmpty)
    }

    @Test("ends with the first step that fails, unless it keeps going")
    func keepsGoing() throws {
        let yaml = """
            - { send: event.LaunchFinished, expect: {} }
            - gone
            - { send: event.LaunchFinished, expect: { root: launch } }
            """
        let flow = try FlowFiles.flow("ios")
        let scenario = try Scenario(yaml: yaml, file: "story.yaml", flow: flow)
        #expect(scenario.play(on: flow).count == 1)
        let all = scenario.play(on: flow, keepsGoing: true)
        #expect(all.map(\.failures.count) == [3, 0, 1])
        #expect(all[1].description == "2. command.ScreenGone of launch-1 → leaving: []")
    }

    @Test(
        "says of a step that cannot be taken why not",
        arguments: [
            ("back", "nothing is on a path"), ("dismiss", "nothing is presented"), ("gone", "nothing is leaving"),
            ("expire", "no guard waits for an answer"),
            ("answer: ok", "nothing is presented as an alert or a dialog"),
            ("back: launch", "no instance of 'launch' is on a path; nothing does"),
            (
                "send: { type: event.A, from: generatedPlaylist }",
                "no instance of 'generatedPlaylist' stands; these do: launch-1"
            ),
        ])
    func impossible(step: String, reason: String) throws {
        #expect(try failures("- \(step)") == ["story.yaml:1:3: \(reason)"])
    }

    @Test(
        "that cannot be read is refused with every mistake and its place",
        arguments: [
            ("send: event.A", "1:1: a scenario must be a list of steps, each beginning with '- send"),
            ("- bak", "1:3: unknown step 'bak'; did you mean 'back'?"),
            ("- send", "1:3: step 'send' needs to be told what; write 'send: …'"),
            ("- sent: event.A", "1:3: unknown key 'sent' in a step; did you mean 'send'?"),
            ("- send: LaunchFinished", "1:9: 'LaunchFinished' is not the type of a message; write command.NAME or"),
            ("- send: { type: event.A, at: soon }", "1:30: 'soon' is no duration"),
            ("- back: lunch", "1:9: unknown screen 'lunch'; did you mean 'launch'?"),
            ("- expire: 1", "1:11: 'expire' takes nothing; remove what follows it"),
            ("- { back: , gone: }", "1:3: a step is one of send, back, dismiss"),
            ("- { back: , expect: [] }", "1:21: 'expect' must be a mapping of what is expected"),
            ("- { back: , expect: { rot: launch } }", "1:23: unknown key 'rot' in 'expect'; did you mean 'root'?"),
            ("- { back: , expect: { root: lunch } }", "1:29: unknown screen 'lunch'; did you mean 'launch'?"),
            ("- { back: , expect: { top: { screen: launch, x: 1 } } }", "1:46: unknown key 'x'"),
            ("- { back: , expect: { columns: launch } }", "1:32: 'columns' must be a mapping of names to screens"),
            ("", "1:1: the file is empty; describe a scenario in it"),
        ])
    func unreadable(yaml: String, finding: String) throws {
        let flow = try FlowFiles.flow("ios")
        let error = #expect(throws: FlowError.self) { try Scenario(yaml: yaml, file: "story.yaml", flow: flow) }
        let first = error?.findings.first?.description ?? ""
        #expect(first.hasPrefix("story.yaml:\(finding)"), "\(first)")
    }

    private func failures(_ yaml: String) throws -> [String] {
        let flow = try FlowFiles.flow("ios")
        return try Scenario(yaml: yaml, file: "story.yaml", flow: flow).play(on: flow, keepsGoing: true)
            .flatMap(\.failures).map { $0.lines(in: "story.yaml").joined(separator: "\n") }
    }
}
