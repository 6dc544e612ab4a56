import FlowFiles
import FlowReview
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Review of conditions on arguments, of buttons and of escaped templates")
struct ArgumentConditionReviewTests {
    /// A flow of which `brewing` declares its arguments. The rules follow on line 13.
    private func findings(_ rules: String) -> [String] {
        let yaml = """
            name: tea
            version: 1
            platform: ios
            start: menu
            screens:
              menu: { sends: [command.Go, command.Open] }
              brewing:
                sends: [command.Go]
                arguments: { minutes: { type: integer, maximum: 60 }, colour?: string }
                once: true
              ready: { sends: [command.Go] }
            transitions:
            \(rules.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
              - { on: command.Open, do: [{ push: { screen: brewing, arguments: { minutes: 5, colour: red } } }] }
              - { on: event.Ready, do: [{ push: { screen: ready, arguments: { minutes: 5 } } }] }
            """
        return Flow.review(yaml: yaml, file: "tea.yaml").findings.map(\.description)
    }

    private func rules(_ first: String, _ second: String) -> [String] {
        findings(
            """
            - { on: command.Go, when: { top: { screen: brewing, arguments: { \(first) } } }, do: [pop] }
            - { on: command.Go, when: { top: { screen: brewing, arguments: { \(second) } } }, do: [popToRoot] }
            """)
    }

    @Test(
        "A rule is compared with an earlier one by the conditions on arguments",
        arguments: [
            ("minutes: { atLeast: 3 }", "minutes: { atMost: 2 }", nil),
            ("minutes: 3", "minutes: { atLeast: 4 }", nil), ("minutes: [1, 2]", "minutes: { not: [1, 2] }", nil),
            ("colour: { exists: true }", "colour: { exists: false }", nil),
            ("minutes: 5", "minutes: { atLeast: 3 }", nil),
            ("minutes: { atLeast: 3 }", "minutes: 5", "never-applies"),
            ("minutes: { atLeast: 3 }", "minutes: '5'", "never-applies"),
            ("minutes: { atLeast: 3 }", "minutes: { atLeast: 4, not: 6 }", "never-applies"),
            ("minutes: { atLeast: 3 }", "minutes: { atMost: 5 }", "competing-rules"),
            ("minutes: [1, 2]", "minutes: [2, 3]", "competing-rules"),
            ("colour: '${data.x}'", "colour: '${data.x}'", "never-applies"),
            ("colour: '${data.x}'", "colour: { not: red }", nil),
            ("colour: { not: red }", "colour: '${data.x}'", nil),
        ] as [(String, String, String?)])
    func order(first: String, second: String, code: String?) {
        let found = rules(first, second)
        #expect(found.count == (code == nil ? 0 : 1), "\(found)")
        if let code { #expect(found.first?.hasSuffix("[\(code)]") == true, "\(found)") }
    }

    @Test("A rule whose 'unless' excludes what its 'when' requires never applies")
    func contradiction() {
        let found = findings(
            """
            - on: command.Go
              when: { top: { screen: brewing, arguments: { minutes: 5 } } }
              unless: { top: { screen: brewing, arguments: { minutes: { atLeast: 3 } } } }
              do: [pop]
            """)
        #expect(found.count == 1 && found.first?.contains("'unless' excludes what 'when' requires") == true, "\(found)")
    }

    @Test(
        "A condition on a value that a declared argument never has is reported",
        arguments: [
            ("minutes: 5", nil), ("minutes: '5'", nil), ("minutes: '${data.x}'", nil), ("colour: 5", nil),
            (
                "minutes: 61",
                "'minutes' of screen 'brewing' is never 61: expected a whole number of at most 60, found 61"
            ),
            ("minutes: { not: many }", "'minutes' of screen 'brewing' is never \"many\""),
            ("colour: [red, { a: 1 }]", "'colour' of screen 'brewing' is never {\"a\":1}"),
        ] as [(String, String?)])
    func values(condition: String, expected: String?) {
        let found = findings(
            "- { on: command.Go, when: { top: { screen: brewing, arguments: { \(condition) } } }, do: [pop] }")
        #expect(found.count == (expected == nil ? 0 : 1), "\(found)")
        if let expected { #expect(found.first?.contains(expected) == true, "\(found)") }
    }

    @Test("An escaped dollar sign before a valid template is a warning, which a comment accepts")
    func escaped() {
        func rule(_ text: String) -> [String] {
            findings(
                "- { on: event.A, do: [{ push: { screen: ready, arguments: { minutes: 1, price: '\(text)' } } }] }")
        }
        #expect(
            rule("$${data.price}") == [
                "tea.yaml:13:33: warning: '$${data.price}' writes the text '${data.price}'; write '$$${data.price}' for a "
                    + "dollar sign before the value [escaped-template]"
            ])
        #expect(rule("$$${data.price}") == [])
        #expect(rule("$${HOME}") == [])
        #expect(
            findings(
                """
                # check: allow escaped-template, the screen explains templates
                - { on: event.A, do: [{ push: { screen: ready, arguments: { minutes: 1, price: '$${data.price}' } } }] }
                """) == [])
    }

    private static let alert = """
        - on: event.A
          do:
            - present:
                screen: ready
                style: alert
                title: Ready
                arguments: { minutes: 5 }
                buttons:
                  - { id: a, title: A, sends: { type: command.Go, data: { x: 1 } }, do: [{ push: BREWING }] }
        """

    @Test("The actions of a button are compared with declarations, and lead from the alert to a screen")
    func buttons() throws {
        let good = Self.alert.replacing("BREWING", with: "{ screen: brewing, arguments: { minutes: '${data.x}' } }")
        #expect(findings(good + "\n- { on: command.Go, do: [pop] }") == [])
        let missing = findings(Self.alert.replacing("BREWING", with: "brewing"))
        #expect(missing.first?.contains("'arguments.minutes' of screen 'brewing': missing") == true, "\(missing)")
        let flow = try Flow("tea", version: 1, platform: "ios", start: "menu") {
            for name in ["menu", "brewing", "ready"] { Flow.Screen(name) }
            Flow.Transition(
                on: "event.A",
                do: [
                    .present(
                        "ready", as: .alert,
                        options: PresentationOptions(
                            title: "Ready", buttons: [AlertButton(id: "a", title: "A", do: [.push("brewing")])]))
                ])
        }
        let edge = try #require(flow.graph.edges.first { $0.to == "brewing" })
        #expect(edge.from == "ready" && edge.message == "command.AlertAnswered" && edge.kind == .command)
        #expect(flow.review() == [])
    }

    @Test("In a scenario, an answered alert can send the command of its button")
    func scenario() throws {
        let yaml = """
            name: tea
            version: 1
            platform: ios
            start: menu
            screens: { menu: , ready: , brewing: }
            transitions:
              - on: event.A
                do:
                  - present:
                      screen: ready
                      style: alert
                      title: Ready
                      arguments: { minutes: 5 }
                      buttons: [{ id: again, title: Again, sends: command.Go }]
              - on: command.Go
                when: { sender: ready }
                do: [{ push: { screen: brewing, arguments: { minutes: "${sender.minutes}" } } }]
            """
        let flow = try Flow(yaml: yaml, file: "tea.yaml")
        let story = """
            - send: event.A
            - answer: again
              expect: { presented: [], dismissed: ready, sent: command.Go }
            - send: { type: command.Go, from: ready }
              expect: { path: { screen: brewing, arguments: { minutes: 5 } } }
            """
        let scenario = try Scenario(yaml: story, file: "story.yaml", flow: flow)
        #expect(scenario.play(on: flow).flatMap(\.failures).isEmpty)
    }
}
