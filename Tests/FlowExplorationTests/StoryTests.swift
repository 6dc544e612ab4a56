import FlowExploration
import FlowFiles
import FlowReview
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Stories of an exploration")
struct StoryTests {
    /// The stories to all states. Each is played as a scenario, and leads to the state of the exploration.
    private func stories(_ flows: [Flow], each step: Int = 1) throws -> [[String]] {
        var explorer = FlowExplorer(flows)
        let exploration = explorer.explore()
        return try stride(from: 0, to: exploration.stateCount, by: step).flatMap { state in
            try flows.indices.map { index in
                let story = explorer.story(to: state, in: index)
                let text = story.steps.joined(separator: "\n")
                #expect(story.isExact, "\(text)")
                if !story.steps.isEmpty {
                    let scenario = try Scenario(yaml: text, file: "story.yaml", flow: flows[index])
                    #expect(scenario.play(on: flows[index]).allSatisfy { $0.failures.isEmpty }, "\(text)")
                }
                return story.steps
            }
        }
    }

    @Test("The scenario to each state of the focus player leads there, on one platform and on both")
    func shipped() throws {
        let flows = try ["ios", "mac"].map(ShippedFlows.flow)
        #expect(try stories([flows[0]]).count > 30)
        #expect(try stories([flows[1]]).count > 30)
        #expect(try stories(flows, each: 10).count > 60)
    }

    @Test("Commands that a flow sends and answers itself are steps of the scenario")
    func sent() throws {
        let flow = try Flow.small(
            screens: "  a: { sends: [command.X] }\n  b:",
            """
              - { on: command.X, when: { top: a }, do: [{ send: command.Go }] }
              - { on: command.Go, do: [{ setRoot: b }] }
            """)
        #expect(
            try stories([flow]).last == [
                "- send: { type: command.X, from: a }",
                "- send: { type: command.Go, platform: ios, causedBy: m1 }",
            ])
    }

    @Test("Of several instances of one screen, the scenario names the one that is meant")
    func instances() throws {
        let flow = try Flow.small(
            screens: "  a: { sends: [command.X] }\n  b: { sends: [command.X] }",
            """
              - { on: command.X, when: { top: a }, do: [{ push: b }] }
              - { on: command.X, when: { top: b }, unless: { path: [a, b, b, b] }, do: [{ push: b }] }
            """)
        _ = try stories([flow])
    }

    @Test("Of several deadlines, the scenario names the one that passes")
    func deadlines() throws {
        let flow = try Flow.small(
            screens: "  a: { sends: [command.X] }\n  b:\n  c:",
            """
              - { after: 5s, when: { root: a }, do: [{ push: c }] }
              - { after: 3s, when: { top: b }, do: [{ push: c }] }
              - { on: command.X, when: { top: a }, do: [{ push: b }] }
            """)
        #expect(try stories([flow]).contains { $0.last?.contains("attempt") == true })
    }

    @Test("A link that has waited for too long, and names that YAML would read as something else")
    func expiry() throws {
        let flow = try Flow.small(
            screens: "  a: { gate: true, sends: [command.X] }\n  yes: { sends: [command.Y] }",
            "  - { on: command.X, when: { top: a }, do: [{ setRoot: 'yes' }] }",
            rest: """
                links:
                  - { url: "shop://there", park: 10s, to: { root: 'yes' } }
                """)
        let found = try stories([flow])
        #expect(found.contains { $0.contains { $0.contains(#"data: {"url":"shop://there"}"#) } })
    }
}
