import FlowFiles
import FlowReview
import Navigation
import Testing

@Suite("Review of actions in the states of a rule")
struct ActionReviewTests {
    /// A flow with a list and an item on it, an offer that is presented, and an alert. Two roots have containers.
    /// Further rules begin on line 21.
    private static let head = """
        name: shop
        version: 1
        platform: ios
        start: list
        screens:
          list: { sends: [command.ItemSelected, command.Shown] }
          item: { sends: [command.Buy], once: true }
          offer: { sends: [command.Take] }
          sure:
          home:
          mail:
        transitions:
          - { on: command.ItemSelected, do: [{ push: { screen: item, arguments: { itemID: "${data.id}" } } }] }
          - { on: event.Offer, do: [{ present: { screen: offer, style: sheet } }] }
          - on: event.Sure
            do: [{ present: { screen: sure, style: alert, title: Sure, buttons: [{ id: ok, title: OK }] } }]
          - { on: event.Home, do: [{ setRoot: { screen: home, container: { tabs: [mail] } } }] }
          - { on: event.List, do: [{ setRoot: list }] }
          - { on: event.Other, when: { root: home }, do: [{ selectTab: mail }] }
          - { on: command.Buy, do: [pop] }

        """

    private func findings(_ rules: String, head: String = Self.head) -> [String] {
        Flow.review(yaml: head + rules, file: "shop.yaml").findings.map(\.description)
    }

    @Test("A flow without a mistake has no findings")
    func valid() {
        #expect(findings("") == [])
    }

    @Test(
        "An action that is impossible in every state of its rule is reported",
        arguments: [
            (
                "when: { top: offer }, do: [pop]",
                "nothing can be popped: no screen is pushed on 'offer' here; use 'dismiss'"
            ),
            ("when: { path: [], presented: [] }, do: [pop]", "nothing can be popped"),
            ("when: { top: list }, do: [pop]", "nothing can be popped"),
            ("do: [{ setRoot: list }, pop]", "nothing can be popped: no screen is pushed on 'list' here"),
            ("when: { path: [] }, do: [dismissAll, pop]", "nothing can be popped"),
            (
                "do: [{ setRoot: list }, { push: item }, { pop: 2 }]",
                "2 screens cannot be popped: the front path has at most 1"
            ),
            ("do: [{ dismiss: item }]", "'item' is never presented, so it cannot be dismissed; use 'pop'"),
            ("when: { presented: [] }, do: [dismiss]", "nothing is presented here"),
            ("do: [dismissAll, { dismiss: offer }]", "nothing is presented here"),
            ("when: { top: sure }, do: [{ push: item }]", "nothing can be pushed on an alert or a dialog"),
            (
                "when: { top: sure }, do: [{ present: { screen: offer, style: sheet } }]",
                "nothing can be presented over an alert"
            ),
            ("when: { root: list }, do: [{ selectTab: mail }]", "the root has no tab 'mail' here"),
            ("when: { root: home }, do: [{ show: { screen: item, column: detail } }]", "the root has no columns here"),
        ])
    func impossible(rule: String, expected: String) {
        let found = findings("  - { on: event.A, \(rule) }\n")
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.contains("warning: \(expected)") == true, "\(found)")
        #expect(found.first?.hasSuffix("[impossible-action]") == true, "\(found)")
    }

    @Test(
        "An action that is possible in one of the states is not reported",
        arguments: [
            "do: [pop]", "when: { top: item }, do: [pop]", "do: [{ setRoot: list }, { push: item }, pop]",
            "when: { presented: [] }, do: [pop]", "when: { root: list }, do: [pop]", "do: [dismiss]",
            "when: { top: offer }, do: [dismiss, pop]", "do: [dismissAll, pop]", "do: [popToRoot]",
            "when: { top: [offer, item] }, do: [pop]", "when: { root: [list, home] }, do: [{ selectTab: mail }]",
            "when: { top: list }, do: [{ popTo: list }]", "when: { path: [] }, do: [{ push: item }, pop]",
            "do: [{ setRoot: { screen: home, container: { tabs: [mail] } } }, { selectTab: mail }]",
        ])
    func possible(rule: String) {
        #expect(findings("  - { on: event.A, \(rule) }\n") == [])
    }

    @Test(
        "A condition that excludes the only screen that sends the rule's command is reported",
        arguments: [
            ("when: { top: item }", true), ("unless: { top: list }", true), ("when: { path: item }", true),
            ("when: { presented: offer }", true), ("when: { top: [list, item] }", false),
            ("when: { top: list }", false),
            ("when: { root: list }", false), ("when: { presented: [] }", false), ("unless: { top: item }", false),
        ])
    func senders(conditions: String, areWrong: Bool) {
        let found = findings("  - { on: command.Shown, \(conditions), do: [{ push: item }] }\n")
        #expect(found.count == (areWrong ? 1 : 0), "\(found)")
        #expect(found.allSatisfy { $0.hasSuffix("[never-applies]") }, "\(found)")
    }

    @Test("A command of a root with columns is reported if its rule needs another root")
    func rootSenders() {
        let head = """
            name: shop
            version: 1
            platform: mac
            start: launch
            screens: { launch: , list: { sends: [command.Chosen, command.Left] }, item: }
            transitions:
              - { on: event.Ready, do: [{ setRoot: { screen: list, container: split } }] }
              - { on: command.Chosen, do: [{ show: { screen: item, column: detail } }] }

            """
        let rule = "  - { on: command.Left, when: { root: ROOT }, do: [{ setRoot: launch }] }\n"
        #expect(findings(rule.replacing("ROOT", with: "list"), head: head) == [])
        let found = findings(rule.replacing("ROOT", with: "launch"), head: head)
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.contains("only 'list' sends 'command.Left', which is always the root") == true, "\(found)")
    }

    @Test("A rule on the end of a child flow is reported in a flow without child flows")
    func noChildren() {
        let found = findings("  - { on: flow.finished, do: [popToRoot] }\n")
        #expect(found.map { $0.contains("the flow has no child flow, so this rule never applies") } == [true])
    }

    @Test("An argument that no rule passes to a screen is reported, in conditions and in templates")
    func arguments() {
        let rules = """
              - on: event.A
                when: { top: { screen: item, arguments: { itemId: 5 } } }
                do: [{ push: { screen: item, arguments: { itemID: "${arguments.itmID}" } } }]
              - { on: event.B, do: [{ send: { type: command.X, data: { a: "${screens.offer.price}" } } }] }
              - { on: event.C, do: [{ send: { type: command.X, data: { a: "${screens.item.itemID}" } } }] }

            """
        #expect(
            findings(rules) == [
                "shop.yaml:22:18: warning: no rule and no link passes an argument 'itemId' to 'item'; did you mean "
                    + "'itemID'? [missing-argument]",
                "shop.yaml:23:18: warning: no rule and no link passes an argument 'itmID' to any screen; did you mean "
                    + "'itemID'? [missing-argument]",
                "shop.yaml:24:33: warning: no rule and no link passes an argument 'price' to 'offer'; pass it where the "
                    + "screen is shown [missing-argument]",
            ])
    }

    private static let child = """
        name: shop
        version: 1
        platform: ios
        start: list
        screens: { list: , form: }
        flows:
          signUp:
            start: form
            transitions:
              - { on: event.SignedUp, do: [{ finish: { kind: new, name: "${data.name}" } }] }
              - { on: event.Known, do: [{ finish: { kind: old } }] }
          endless:
            start: form
            transitions: [{ on: event.GivenUp, do: [abandon] }]
        transitions:
          - { on: event.Begin, do: [{ push: { flow: signUp } }] }
          - { on: event.Other, do: [{ push: { flow: endless } }] }

        """

    @Test(
        "A result that no 'finish' gives, and an end that never happens, are reported",
        arguments: [
            ("where: { flow: signUp, result.kind: new }, do: [{ push: list }]", nil),
            ("where: { flow: signUp, result.name: Ann }, do: [{ push: list }]", nil),
            ("where: { flow: signUp, result.name: { exists: false } }, do: [{ push: list }]", nil),
            (
                "where: { flow: signUp, result.knd: new }, do: [{ push: list }]",
                "'signUp' gives a result 'knd'; did you mean 'kind'?"
            ),
            ("where: { flow: signUp, result.kind: newer }, do: [{ push: list }]", "gives 'kind' only as new, old"),
            ("where: { flow: endless }, do: [{ push: list }]", "no rule of 'endless' finishes it"),
            (
                "where: { flow: signUp }, do: [{ push: { screen: list, arguments: { a: '${data.result.nme}' } } }]",
                "gives a result 'nme'; did you mean 'name'?"
            ),
        ] as [(String, String?)])
    func results(rule: String, expected: String?) {
        let found = findings("  - { on: flow.finished, \(rule) }\n", head: Self.child)
        #expect(found.count == (expected == nil ? 0 : 1), "\(found)")
        if let expected { #expect(found.first?.contains(expected) == true, "\(found)") }
    }
}
