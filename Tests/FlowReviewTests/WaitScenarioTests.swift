import FlowFiles
import FlowReview
import Navigation
import Testing

@Suite("Rules that wait, in the check and in scenarios")
struct WaitScenarioTests {
    private func flow(_ rules: String = "") -> String {
        """
        name: shop
        version: 1
        platform: ios
        start: splash
        screens: { splash: , list: { sends: [command.Again] }, hint: }
        transitions:
          - { after: 3s, when: { top: splash }, do: [{ setRoot: list }] }
          - { after: 3s, when: { root: list, presented: [] }, do: [{ present: { screen: hint, style: sheet } }] }
          - { on: command.Again, do: [{ setRoot: splash }] }
        \(rules)
        """
    }

    private func failures(_ scenario: String) throws -> [String] {
        let flow = try Flow(yaml: flow(), file: "shop.yaml")
        return try Scenario(yaml: scenario, file: "story.yaml", flow: flow).play(on: flow)
            .flatMap(\.failures).map(\.message)
    }

    @Test("The deadline of a wait passes with 'expire', or before the time of a message")
    func scenario() throws {
        #expect(
            try failures(
                """
                - { send: event.LaunchFinished, expect: { waits: 3000ms } }
                - { expire: , expect: { root: list, leaving: splash, dismissed: splash, waits: [3s] } }
                - { send: { type: event.Other, at: 2s }, expect: {} }
                - { send: { type: event.Other, at: 3s }, expect: { presented: { screen: hint, style: sheet } } }
                """) == [])
        #expect(
            try failures("- { send: event.LaunchFinished, expect: { waits: 4s } }") == [
                "'waits' is not what was expected"
            ])
        #expect(
            try failures("- { send: event.LaunchFinished }\n- expire\n- expire\n- expire") == [
                "no guard and no rule with 'after' waits; such a rule begins to wait with a message, such as "
                    + "event.LaunchFinished"
            ])
    }

    @Test("Rules that wait do not compete, and lead from screen to screen")
    func review() {
        #expect(FlowReading(yaml: flow(), file: "shop.yaml").review().findings == [])
        let contradiction = "  - { after: 1s, when: { top: list }, unless: { top: list }, do: [{ setRoot: splash }] }"
        let found = FlowReading(yaml: flow(contradiction), file: "shop.yaml").review().findings
        #expect(found.map(\.code) == [.neverApplies])
        let same = FlowReading(
            yaml: flow("  - { after: 3s, when: { top: splash }, do: [{ push: hint }] }"), file: "shop.yaml")
        #expect(
            same.review().findings.map(\.message).first?.hasPrefix("the rule never applies: an earlier rule waits")
                == true)
    }
}
