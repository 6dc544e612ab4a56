import FlowFiles
import FlowReview
import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@Suite("Findings in a flow that works")
struct FlowReviewTests {
    /// A flow with a list, an item and an offer. Its rules begin on line 10.
    private static let head = """
        name: shop
        version: 1
        platform: ios
        start: list
        screens:
          list: { sends: [command.ItemSelected] }
          item: { sends: [command.Buy], once: true }
          offer: { sends: [command.Buy] }
        transitions:
          - on: command.ItemSelected
            do: [{ push: item }]
          - on: event.Offer
            do: [{ present: { screen: offer, style: sheet } }]

        """

    /// The findings for additional rules, which begin on line 14.
    private func findings(rules: String) -> [String] {
        findings(Self.head + rules.split(separator: "\n").map { "  \($0)\n" }.joined())
    }

    private func findings(_ yaml: String) -> [String] {
        Flow.review(yaml: yaml, file: "shop.yaml").findings.map(\.text)
    }

    @Test("A flow without a mistake has no findings", arguments: ["ios", "mac"])
    func shipped(platform: String) throws {
        #expect(try ShippedFlows.flow(platform).review().isEmpty)
        #expect(findings(rules: "").isEmpty)
    }

    @Test("A rule that earlier ones hide completely never applies")
    func shadowed() {
        #expect(
            findings(rules: "- on: event.Offer\n  where: { kind: new }\n  when: { root: list }\n  do: [popToRoot]") == [
                "shop.yaml:14:5: warning: the rule never applies: an earlier rule already matches every 'event.Offer' "
                    + "that this rule matches; move this rule before it, or remove this rule (see line 12)"
            ])
    }

    @Test(
        "A rule hides a later one only if it matches every message that the later one matches",
        arguments: [
            ("where: { a: [1, 2] }", "where: { a: 1, b: 2 }", true),
            ("where: { a: 1 }", "where: { a: [1, 2] }", false),
            ("where: { a: { exists: true } }", "where: { a: { atLeast: 1 } }", true),
            ("where: { a: { atLeast: 1 } }", "where: { a: { atLeast: 2, atMost: 3 } }", true),
            ("where: { a: { atLeast: 2 } }", "where: { a: { atLeast: 1 } }", false),
            ("where: { a: { atMost: 2 } }", "where: { a: { atMost: 3 } }", false),
            ("where: { a: { not: x } }", "where: { a: { not: [x, y] } }", true),
            ("where: { a: { not: x } }", "where: { a: y }", true),
            ("where: { a: { not: x } }", "where: { b: y }", false),
            ("where: { a: { exists: false } }", "where: { a: y }", false),
            ("when: { root: [list, item] }", "when: { root: list, path: item }", true),
            ("when: { root: list }", "when: { root: [list, item] }", false),
            ("when: { shown: item }", "when: { top: item }", true),
            ("when: { top: item }", "when: { shown: item }", false),
            ("when: { top: item }", "when: { top: { screen: item, arguments: { a: 1 } } }", true),
            ("when: { top: { screen: item, arguments: { a: 1 } } }", "when: { top: item }", false),
            ("when: { path: [] }", "when: { path: [] }", true),
            ("when: { path: [] }", "when: { path: item }", false),
            ("unless: { top: list }", "unless: { top: [list, item] }", true),
            ("unless: { top: [list, item] }", "unless: { top: list }", false),
            ("unless: { top: list }", "when: { top: item }", true),
            ("unless: { path: [] }", "when: { path: item }", true),
            ("unless: { path: item }", "when: { path: offer }", false),
            ("origin: any", "origin: own", true),
            ("origin: own", "origin: any", false),
        ])
    func subsumption(earlier: String, later: String, shadows: Bool) throws {
        let rule = "  - on: event.A\n    do: [{ push: item }]\n    "
        let yaml = Self.head + [earlier, later].map { rule + $0 + "\n" }.joined()
        let never = findings(yaml).filter { $0.contains("the rule never applies: an earlier rule") }
        #expect(never.map { String($0.prefix(16)) } == (shadows ? ["shop.yaml:17:5: "] : []), "\(findings(yaml))")
    }

    @Test(
        "A rule with the same question hides a later one only if it accepts the same answers",
        arguments: [
            ("{ kind: a }", "{ kind: b }", false), ("{ kind: a }", "{ kind: a, size: 1 }", true),
            ("{}", "{ kind: a }", true),
        ])
    func acceptedAnswers(earlier: String, later: String, isShadowed: Bool) {
        let rules = [earlier, later].map { fields in
            "- on: command.Buy\n  guard: { accept: { on: event.Stored, where: \(fields) }, deadline: 5s }\n  do: [{ push: list }]"
        }
        let found = findings(rules: rules.joined(separator: "\n"))
        #expect(found.filter { $0.contains("the rule never applies") }.count == (isShadowed ? 1 : 0), "\(found)")
    }

    @Test("A rule on several types can be hidden for one of them, and competing rules are reported once")
    func severalTypes() {
        #expect(
            findings(rules: "- on: [event.Other, event.Offer]\n  when: { root: list }\n  do: [popToRoot]") == [
                "shop.yaml:14:5: warning: the rule never applies to 'event.Offer': an earlier rule already matches every "
                    + "'event.Offer' that this rule matches; move this rule before it, or remove this type (see line 12)"
            ])
        let rivals = """
            - on: [event.A, event.B]
              where: { kind: new }
              do: [popToRoot]
            - on: [event.A, event.B]
              where: { size: 1 }
              do: [pop]
            """
        let found = findings(rules: rivals)
        #expect(found.count == 1 && found[0].contains("competes with an earlier one for 'event.A'"), "\(found)")
    }

    @Test("Two conditions on one part of the state that exclude each other are reported")
    func exclusion() {
        let yaml = """
            - on: event.A
              when: [{ root: list }, { root: item }]
              do: [{ push: item }]
            - on: event.B
              when: [{ path: item }, { path: list }]
              do: [{ push: list }]
            """
        #expect(
            findings(rules: yaml).filter { $0.contains("exclude each other") } == [
                "shop.yaml:15:36: warning: two conditions of 'when' exclude each other, so the rule never applies; "
                    + "remove one of them (see line 15)"
            ])
    }

    @Test("Each command of a rule's list must be sent by a screen")
    func severalCommands() {
        #expect(
            findings(rules: "- on: [command.Buy, command.Bye]\n  do: [popToRoot]") == [
                "shop.yaml:14:5: warning: no screen or button sends 'command.Bye'; did you mean 'command.Buy'?"
            ])
    }

    @Test("A tree of steps can branch on the answer, and its screens can send further commands")
    func branches() {
        let yaml = """
            name: t
            version: 1
            platform: ios
            start: name
            steps:
              - screen: name
                next: command.NameEntered
                sends: [command.Skip]
                guard: { accept: event.NameSaved, deadline: 5s }
                steps:
                  - { screen: team, where: { answer.member: true } }
                  - { screen: solo, where: { answer.member: false } }
            transitions:
              - { on: command.Skip, unless: { top: solo }, do: [{ push: solo }] }
            """
        #expect(findings(yaml) == [])
        #expect(findings(yaml.replacing("    sends: [command.Skip]\n", with: "")).count == 1)
    }

    @Test("A rule on a view's report has one finding, not two that contradict each other")
    func reports() {
        #expect(
            findings(rules: "- on: command.TabSelected\n  do: [popToRoot]") == [
                "shop.yaml:14:5: 'command.TabSelected' is a view's report, which the machine handles itself; remove "
                    + "this rule"
            ])
    }

    @Test("A rule for a command of another platform's screens is accepted")
    func otherPlatforms() {
        let rule = "- on: command.OpenPanel\n  do: [{ push: item }]"
        let yaml = Self.head + rule.split(separator: "\n").map { "  \($0)\n" }.joined()
        #expect(findings(yaml).count == 1)
        let sent: Set<String> = ["command.OpenPanel"]
        #expect(Flow.review(yaml: yaml, file: "shop.yaml", sentElsewhere: sent).findings.isEmpty)
        let own = yaml + "    origin: own\n"
        #expect(Flow.review(yaml: own, file: "shop.yaml", sentElsewhere: sent).findings.count == 1)
    }

    @Test("Each of many rules for one message is compared with those that can match together with it")
    func manyRules() {
        let screens = (0..<100).map { "  s\($0): { sends: [command.Next] }\n" }.joined()
        let head = "name: t\nversion: 1\nplatform: ios\nstart: s0\nscreens:\n\(screens)transitions:\n"
        func rule(_ n: Int) -> String {
            "  - { on: command.Next, where: { n: \(n) }, when: { top: s\(n % 100) }, do: [{ push: s\((n + 1) % 100) }] }\n"
        }
        // The last rule repeats the first one.
        let found = findings(head + (0..<1_000).map(rule).joined() + rule(0))
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("shop.yaml:1107:5: warning: the rule never applies") == true, "\(found)")
    }

    @Test("A flow with more than 10,000 rules is refused in one line")
    func tooManyRules() throws {
        let rules = (0...Flow.ruleLimit).map { _ in Flow.Transition(on: "event.A", do: [.push("nowhere")]) }
        let error = try #require(throws: FlowError.self) {
            try Flow("t", version: 1, platform: "ios", start: "list") {
                Flow.Screen("list")
                for rule in rules { rule }
            }
        }
        #expect(
            error.findings.map(\.message) == [
                "transitions[10000]: the flow has 10001 rules and links, and at most 10000 are allowed; divide the app "
                    + "into several flows"
            ])
    }

    @Test("Rules are compared in pairs up to a limit, and a note reports where it ends")
    func uncomparable() {
        let rules = (0..<800).map {
            "- { on: event.E, where: { f\($0): 1 }, unless: { top: offer }, do: [{ push: item }] }"
        }
        let found = findings(rules: rules.joined(separator: "\n")).filter { $0.contains("were not compared") }
        #expect(found.count == 1)
    }

    @Test("A rule with contradictory conditions never applies")
    func contradiction() {
        #expect(
            findings(
                rules: "- on: event.A\n  when: { top: item }\n  unless: { shown: [item, list] }\n  do: [popToRoot]")
                == [
                    "shop.yaml:16:15: warning: 'unless' excludes what 'when' requires, so the rule never applies; "
                        + "remove one of them (see line 15)"
                ])
        #expect(
            findings(rules: "- on: event.A\n  where: { a: { anyOf: [1, 2], atLeast: 3 } }\n  do: [popToRoot]") == [
                "shop.yaml:15:14: warning: no value fulfils all of these conditions, so the rule never applies; "
                    + "correct them"
            ])
        #expect(
            findings(rules: "- on: event.A\n  when: { path: item }\n  unless: { path: [] }\n  do: [popToRoot]").isEmpty)
        #expect(
            findings(rules: "- on: event.A\n  when: { top: [item, offer] }\n  unless: { top: item }\n  do: [popToRoot]")
                .isEmpty)
    }

    @Test("A condition on a screen that cannot be at that place is reported there")
    func impossiblePlace() {
        #expect(
            findings(
                rules: """
                    - on: event.A
                      when: { root: [list, item] }
                      unless: { path: offer, presented: item }
                      do: [popToRoot]
                    """) == [
                    "shop.yaml:15:26: warning: 'item' is never the root; name another screen or place",
                    "shop.yaml:16:21: warning: 'offer' is never pushed; name another screen or place",
                    "shop.yaml:16:39: warning: 'item' is never presented; name another screen or place",
                ])
        #expect(
            findings(rules: "- on: event.A\n  unless: { root: list }\n  do: [popToRoot]") == [
                "shop.yaml:15:15: warning: the root is always one of these screens, so the rule never "
                    + "applies; remove one of them"
            ])
    }

    @Test("Two rules that compete are reported at the later one")
    func competition() {
        let rules = """
            - on: event.A
              when: { top: [list, item] }
              do: [{ push: item }]
            - on: event.A
              when: { top: [item, offer] }
              do: [dismissAll]
            """
        #expect(
            findings(rules: rules) == [
                "shop.yaml:17:5: warning: the rule competes with an earlier one for 'event.A': both can match, and "
                    + "only their order decides; add a condition to one that excludes the other (see line 14)"
            ])
        #expect(findings(rules: "- { on: event.A, when: { top: item }, do: [popToRoot] }\n" + rules).isEmpty)
    }

    @Test(
        "Two rules compete unless their conditions exclude each other, or one is more specific",
        arguments: [
            ("where: { a: 1 }", "where: { b: 2 }", true),
            ("where: { a: [1, 2] }", "where: { a: [2, 3] }", true),
            ("where: { a: 1 }", "where: { a: 2 }", false),
            ("where: { a: { atMost: 3 } }", "where: { a: { atLeast: 3 } }", true),
            ("where: { a: { atMost: 3 } }", "where: { a: { atLeast: 4 } }", false),
            ("where: { a: 1 }", "when: { top: item }", true),
            ("when: { path: item }", "when: { top: offer }", false),
            ("unless: { presented: offer }", "unless: { path: item }", true),
            ("when: { top: item }", "unless: { top: item }", false),
            ("when: { top: [item, list] }", "unless: { top: item }", true),
            ("unless: { top: item }", "unless: { top: list }", false),
            ("origin: own", "where: { a: 1 }", true),
            ("where: { a: 1 }", "where: { a: 1, b: 2 }", false),
        ])
    func overlap(earlier: String, later: String, compete: Bool) {
        func rules(_ second: String) -> String {
            Self.head + "  - on: event.A\n    do: [{ push: item }]\n    \(earlier)\n"
                + "  - on: event.A\n    do: [\(second)]\n    \(later)\n"
        }
        #expect(findings(rules("popToRoot")).contains { $0.contains("competes") } == compete)
        #expect(!findings(rules("{ push: item }")).contains { $0.contains("competes") })
    }

    @Test("A command that no screen sends is reported once, with the closest name")
    func unsent() {
        #expect(
            findings(rules: "- on: command.By\n  when: { top: item }\n  do: [pop]\n- on: command.By\n  do: [popToRoot]")
                == ["shop.yaml:14:5: warning: no screen or button sends 'command.By'; did you mean 'command.Buy'?"])
        #expect(
            findings(rules: "- on: command.Refresh\n  do: [popToRoot]") == [
                "shop.yaml:14:5: warning: no screen or button sends 'command.Refresh'; add it to 'sends' "
                    + "of a screen"
            ])
        let sent = """
            - on: event.A
              do:
                - send: command.Refresh
                - present: { screen: offer, style: alert, title: A, buttons: [{ id: b, title: B, sends: command.C }] }
            - { on: command.Refresh, do: [popToRoot] }
            - { on: command.C, do: [popToRoot] }
            """
        #expect(findings(rules: sent).isEmpty)
    }

    @Test(
        "A step without 'sends' may send any command, and a misspelt one of other screens is reported",
        arguments: [
            ("{ screen: photo, next: command.PhotoTaken", "photo", false),
            ("{ screen: photo, next: command.PhotoTaken", "[name, photo]", false),
            ("{ screen: photo, next: command.PhotoTaken, sends: [command.Retake]", "photo", true),
            ("{ screen: photo, next: command.PhotoTaken", "name", true),
            ("{ screen: photo, next: command.PhotoTaken", "help", true),
        ])
    func unsentOfSteps(photo: String, top: String, isFound: Bool) {
        let yaml = """
            name: t
            version: 1
            platform: ios
            start: name
            screens: { help: { sends: [command.Closed] } }
            steps:
              - screen: name
                next: command.NameEntered
                sends: [command.HelpRequested]
                steps: [\(photo), steps: [{ screen: done }] }]
            transitions:
              - { on: command.HelpRequested, do: [{ push: help }] }
              - { on: command.Closed, when: { top: help }, do: [pop] }
              - { on: command.Skip, when: { top: \(top) }, do: [{ push: done }] }
            """
        let found = findings(yaml).filter { $0.contains("no screen or button sends 'command.Skip'") }
        #expect(found.count == (isFound ? 1 : 0), "\(findings(yaml))")
    }

    @Test("Mistakes and errors are reported together, without findings that only follow from them")
    func together() {
        let review = Flow.review(
            yaml: Self.head + """
                  - on: command.By
                    do: [{ push: itme }]
                  - on: event.A
                    when: { path: offer }
                    do: [pop]
                """, file: "shop.yaml")
        #expect(review.flow == nil)
        #expect(
            review.findings.map(\.text) == [
                "shop.yaml:14:5: warning: no screen or button sends 'command.By'; did you mean 'command.Buy'?",
                "shop.yaml:15:18: unknown screen 'itme'; did you mean 'item'?",
            ])
        #expect(review.errors.map(\.line) == [15])
        #expect(review.warnings.map(\.line) == [14])
        let unread = Flow.review(yaml: Self.head + "  - { on: event.Offer, where: [a], do: [pop] }", file: "shop.yaml")
        #expect(unread.warnings.isEmpty)
        #expect(unread.errors.count == 1)
        #expect(Flow.review(yaml: Self.head, file: "shop.yaml").flow != nil)
    }

    @Test("A finding in a flow built in Swift has the path in the flow")
    func built() throws {
        let flow = try Flow("shop", version: 1, platform: "ios", start: "list") {
            Flow.Screen("list")
            Flow.Screen("item")
            Flow.Transition(on: "event.A", do: [.push("item")])
            Flow.Transition(on: "event.A", do: [.pop])
        }
        #expect(
            flow.review().map(\.text) == [
                "flow shop: warning: transitions[1]: the rule never applies: an earlier rule already matches every "
                    + "'event.A' that this rule matches; move this rule before it, or remove this rule "
                    + "(see transitions[0])"
            ])
    }

    @Test("A command that only a deep link sends counts as sent")
    func linkSends() {
        let rules = """
            - on: command.Refresh
              do: [pop]
            """
        let link = """
            links:
              - url: shop://list
                to: { root: list }
                send: command.Refresh
            """
        #expect(findings(rules: rules).count == 1)
        #expect(findings(Self.head + rules.split(separator: "\n").map { "  \($0)\n" }.joined() + link) == [])
    }
}

@Suite("Random flows with rules that never apply")
struct FlowReviewHistoryTests {
    /// A flow with two rules for one message, and with other rules that lead to many different states.
    private static func flow(_ random: inout SeededGenerator) throws -> Flow {
        let rivals = ["command.First", "command.Second"].map { type in
            Flow.Transition(
                on: "event.A", where: fields(&random), when: conditions(&random), unless: conditions(&random),
                do: [.send(type: type)])
        }
        return try Flow("rivals", version: 1, platform: "any", start: "a") {
            for name in ["a", "b", "c"] { Flow.Screen(name) }
            for rival in rivals { rival }
            for (number, actions) in steps.enumerated() {
                Flow.Transition(on: "event.Go", where: ["step": .value(.integer(number))], do: actions)
            }
        }
    }

    private static let steps: [[Flow.Action]] = [
        [.push("a")], [.push("b")], [.push("c")], [.pop], [.popToRoot], [.present("a", as: .sheet)],
        [.present("b", as: .popover)], [.dismiss(nil)], [.setRoot("a")], [.setRoot("c", container: .tabs(["a", "b"]))],
        [.setRoot("b", container: .split), .show("c", column: "x")], [.selectTab("b")],
    ]

    private static let matches: [Flow.Match] = [
        1, [1, 2], 3, .not(1), .not(1, 2), .exists(true), .exists(false), .atLeast(2), .atMost(2), .atMost(3),
        Flow.Match(atLeast: 1, atMost: 2), Flow.Match(anyOf: [1, 3], noneOf: [3]),
        Flow.Match(exists: false, atLeast: 1),
    ]

    private static func fields(_ random: inout SeededGenerator) -> [String: Flow.Match] {
        matches.randomElement(using: &random).map { random.chance(3, in: 4) ? ["n": $0] : [:] } ?? [:]
    }

    private static func conditions(_ random: inout SeededGenerator) -> [Flow.Condition] {
        let scopes: [Flow.Condition.Scope] = [.root, .top, .path, .presented, .shown]
        guard random.chance(1, in: 3), let scope = scopes.randomElement(using: &random) else { return [] }
        let mayBeEmpty = [.path, .presented].contains(scope)
        let count = Int.random(in: (mayBeEmpty ? 0 : 1)...2, using: &random)
        return [Flow.Condition(scope, ["a", "b", "c"].shuffled(using: &random).prefix(count).map { .screen($0) })]
    }

    @Test("No rule of 1,000 random pairs that is reported as never applying ever applies", arguments: [1, 2])
    func neverApplies(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (never, applied) = (0, 0)
        for _ in 0..<500 {
            let flow = try Self.flow(&random)
            let said = flow.review().filter { $0.message.contains("the rule never applies") }
            let idle = ["First", "Second"].enumerated().filter { number, _ in
                said.contains { $0.message.hasPrefix("transitions[\(number)]") }
            }.map { "command.\($0.element)" }
            never += idle.count
            var session = Session(flow)
            for _ in 0..<20 {
                let step = Int.random(in: 0..<Self.steps.count, using: &random)
                session.send("event.Go", ["step": .integer(step)])
                let number = Int.random(in: 0...4, using: &random)
                for case .send(let type, _) in session.send("event.A", number == 0 ? [:] : ["n": .integer(number)]) {
                    #expect(!idle.contains(type), "\(flow.json)")
                    applied += 1
                }
            }
        }
        // Some of the rules never apply, and others do.
        #expect(never > 30)
        #expect(applied > 500)
    }
}
