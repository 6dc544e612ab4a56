import FlowFiles
import Navigation
import SampleFlows
import Testing

@Suite("Findings in a flow file")
struct FlowFindingTests {
    private static let head = """
        name: shop
        version: 1
        platform: ios
        start: list
        screens:
          list: { sends: [command.ItemSelected] }
          item:

        """

    private func findings(_ yaml: String) -> [String] {
        FlowFinding.refused { () throws(FlowError) in try Flow(yaml: yaml, file: "shop.yaml") }.map(\.description)
    }

    /// The findings for one rule, which begins on line 9.
    private func findings(rule: String) -> [String] {
        findings(Self.head + "transitions:\n" + rule)
    }

    @Test("A flow without a mistake has no findings")
    func valid() {
        #expect(findings(rule: "  - on: command.ItemSelected\n    do: [{ push: item }]").isEmpty)
    }

    @Test("An unknown screen is reported with its line, its column and the closest name")
    func unknownScreen() {
        #expect(
            findings(rule: "  - on: command.ItemSelected\n    do:\n      - push: itme")
                == ["shop.yaml:11:15: unknown screen 'itme'; did you mean 'item'?"])
        #expect(
            findings(rule: "  - on: command.ItemSelected\n    when: { root: settings }\n    do: [{ push: item }]")
                == ["shop.yaml:10:19: unknown screen 'settings'; known: item, list"])
        #expect(
            findings(
                rule: """
                      - on: event.A
                        do:
                          - push:
                              screen: x
                              arguments: { id: "${screens.lst.id}" }
                    """)
                == [
                    "shop.yaml:12:11: unknown screen 'x'; known: item, list",
                    "shop.yaml:13:11: unknown screen 'lst'; did you mean 'list'?",
                ])
    }

    @Test("An unknown key is reported with the closest key")
    func unknownKey() {
        #expect(
            findings(rule: "  - on: command.ItemSelected\n    wehn: { root: list }\n    do: [{ push: item }]")
                == ["shop.yaml:10:5: unknown key 'wehn' in a rule; did you mean 'when'?"])
        #expect(
            findings(rule: "  - on: command.ItemSelected\n    do:\n      - psuh: item")
                == ["shop.yaml:11:9: unknown action 'psuh'; did you mean 'push'?"])
        #expect(
            findings(rule: "  - on: event.A\n    when: { toop: list }\n    do: [pop]")
                == ["shop.yaml:10:13: unknown key 'toop' in 'when'; did you mean 'top'?"])
    }

    @Test("A missing field is reported where it is missing")
    func missingField() {
        #expect(
            findings(rule: "  - on: command.ItemSelected\n")
                == ["shop.yaml:9:5: a rule lacks 'do'; add it"])
        #expect(
            findings("name: shop\nversion: 1\nplatform: ios\nscreens: { list: }\ntransitions: []")
                == ["shop.yaml:1:1: the flow lacks 'start'; add it"])
        #expect(
            findings(rule: "  - on: event.A\n    do:\n      - present: { screen: item }")
                == ["shop.yaml:11:18: 'present' lacks 'style'; add it"])
    }

    @Test("All mistakes are reported at once, in the order of the file")
    func allAtOnce() {
        let yaml = """
            name: shop
            version: one
            platform: ios
            start: lits
            screens:
              list: { send: [command.A] }
            transitions:
              - on: event.A
              - on: event.B
                do: [jump]
            """
        let found = findings(yaml)
        #expect(found.compactMap { Int($0.split(separator: ":")[1]) } == [2, 4, 6, 8, 10])
        #expect(found.dropFirst().first == "shop.yaml:4:1: unknown screen 'lits'; did you mean 'list'?")
    }

    @Test("A rule that cannot be read does not shift the lines of later rules")
    func linesStayRight() {
        #expect(
            findings(rule: "  - on: event.A\n  - on: event.B\n    do: [{ push: nowhere }]")
                == [
                    "shop.yaml:9:5: a rule lacks 'do'; add it",
                    "shop.yaml:11:18: unknown screen 'nowhere'; known: item, list",
                ])
    }

    @Test("An action that cannot be read does not shift the lines of later actions")
    func actionLinesStayRight() {
        #expect(
            findings(
                rule: """
                      - on: event.A
                        do:
                          - present: { screen: item, style: shet }
                          - push: nowhere
                    """)
                == [
                    "shop.yaml:11:41: unknown style 'shet'; did you mean 'sheet'?",
                    "shop.yaml:12:15: unknown screen 'nowhere'; known: item, list",
                ])
    }

    @Test("An unknown request or style is reported")
    func headLists() {
        let rules = "transitions: [{ on: event.A, do: [pop] }]\n"
        #expect(
            findings(Self.head + "requests: [push, pup]\n" + rules)
                == ["shop.yaml:8:18: unknown action 'pup'; did you mean 'pop'?"])
        #expect(
            findings(Self.head + "presentations: sheet\n" + rules).first?
                .hasPrefix("shop.yaml:8:16: expected a list of styles, such as [sheet, ") == true)
    }

    @Test("Malformed YAML is one finding with its line and column")
    func malformed() throws {
        let found = findings("name: shop\nscreens: [list\nstart: list\n")
        #expect(found.count == 1)
        let first = try #require(found.first)
        #expect(first.hasPrefix("shop.yaml:3:6: malformed YAML: "))
        #expect(!first.contains("\n"))
        #expect(findings("") == ["shop.yaml:1:1: the file is empty; describe a flow in it"])
        #expect(findings("just words").count == 1)
        #expect(findings("a: 1\na: 2").first?.contains("duplicate key 'a'") == true)
    }

    @Test(
        "Rules with contradictory or invalid parts are refused",
        arguments: [
            ("on: Hello\n    do: [pop]", "9:5: 'Hello' is not the type of a message"),
            ("on: command.ScreenGone\n    do: [pop]", "9:5: 'command.ScreenGone' is a view's report"),
            (
                "on: command.NavigationRequested\n    do: [pop]",
                "9:5: the machine handles 'command.NavigationRequested' itself"
            ),
            ("on: event.A\n    do: []", "10:5: 'do' is empty"),
            (
                "on: event.A\n    where: { a: { no: 1 } }\n    do: [pop]",
                "10:19: unknown key 'no' in the condition on 'a'"
            ),
            ("on: event.A\n    where: { a: { exists: 1 } }\n    do: [pop]", "10:27: exists must be true or false"),
            ("on: event.A\n    where: { a: { atLeast: x } }\n    do: [pop]", "10:28: atLeast must be a number"),
            (
                "on: event.A\n    where:\n      a.b: { atLeast: 2, atMost: 1 }\n    do: [pop]",
                "11:7: no number is both at least 2"
            ),
            ("on: event.A\n    where: { a: [] }\n    do: [pop]", "10:14: the list of values is empty"),
            ("on: event.A\n    where: { a: {} }\n    do: [pop]", "10:14: the field has no condition"),
            ("on: event.A\n    where: [a]\n    do: [pop]", "10:12: 'where' must be a mapping from fields"),
            (
                "on: event.A\n    when: { tab: home }\n    do: [pop]",
                "10:13: unknown tab 'home'; no root of the flow has tabs"
            ),
            (
                "on: event.A\n    when:\n      top:\n        - item\n        - screen: itme\n    do: [pop]",
                "13:11: unknown screen 'itme'"
            ),
            (
                "on: event.A\n    when: { top: { screen: item, arguments: { id: '${date.id}' } } }\n    do: [pop]",
                "10:47: unknown name 'date' in a template"
            ),
            ("on: event.A\n    do: pop", "10:9: 'do' must be a list"),
            ("on: event.A\n    do: [push]", "10:10: action 'push' needs a value"),
            ("on: event.A\n    do: [popToRoot: 2]", "10:21: action 'popToRoot' takes no value"),
            ("on: event.A\n    do: [pop: 0]", "10:10: 'pop' removes at least one screen"),
            ("on: event.A\n    do: [pop: itme]", "10:10: unknown screen 'itme'; did you mean 'item'?"),
            (
                "on: event.A\n    do: [pop: [item]]",
                "10:15: 'pop' must be a number of screens, 'sender', or { from: SCREEN }"
            ),
            (
                "on: event.A\n    do: [pop: { count: 1, to: item }]",
                "10:15: 'pop' takes only one of 'count', 'from' and 'to'"
            ),
            ("on: event.A\n    do: [pop: { column: x }]", "10:17: no rule or link shows a screen in column 'x'"),
            ("on: event.A\n    do: [{ selectTab: home }]", "10:10: unknown tab 'home'; no root of the flow has tabs"),
            (
                "on: event.A\n    do: [{ setRoot: { screen: item, container: { tabs: [item, lits] } } }]",
                "10:63: unknown screen 'lits'; did you mean 'list'?"
            ),
            (
                "on: event.A\n    do: [{ setRoot: { screen: item, container: { tabs: [item, item] } } }]",
                "10:48: 'tabs' needs at least one tab"
            ),
            ("on: event.A\n    origin: mine\n    do: [pop]", "10:13: unknown origin 'mine'; known: any, own"),
            ("on: event.A\n    when: { root: [] }\n    do: [pop]", "10:13: 'root' names no screen"),
            ("on: event.A\n    do: [{ openURL: '${data.url' }]", "10:10: '${' is not closed"),
            ("on: event.A\n    do: [{ openURL: '${date.url}' }]", "10:10: unknown name 'date' in a template"),
            ("on: event.A\n    do: [{ openURL: '${data}' }]", "10:10: '${data}' is incomplete"),
            ("on: event.A\n    do: [{ send: ItemSelected }]", "10:10: 'ItemSelected' is not the type of a command"),
            (
                "on: event.A\n    do: [{ show: item }]",
                "10:18: 'show' must be a mapping with the keys screen, column, arguments"
            ),
            (
                "on: event.A\n    do: [{ present: { screen: item, style: shet } }]",
                "10:44: unknown style 'shet'; did you mean 'sheet'?"
            ),
            ("on: event.A\n    do: [{ present: { screen: item, style: alert } }]", "10:21: an alert needs a title"),
            (
                "on: event.A\n    do: [{ present: { screen: item, style: popover, detents: [large] } }]",
                "10:21: detents and dragIndicator belong to a sheet"
            ),
            (
                "on: event.A\n    do: [{ present: { screen: item, style: sheet, title: x } }]",
                "10:21: title, message and buttons belong to an alert or dialog"
            ),
            ("on: event.A\n    do: [{ present: { screen: item, style: dialog } }]", "10:21: a dialog needs buttons"),
            (
                "on: event.A\n    do: [{ present: { screen: item, style: window } }]",
                "10:37: platform 'ios' has no style 'window'"
            ),
            (
                "on: event.A\n    do: [{ present: { screen: item, style: fullScreen, interactiveDismissal: false } }]",
                "10:21: interactiveDismissal belongs to a sheet, popover or window"
            ),
            (
                "on: event.A\n    do: [{ present: { screen: item, style: sheet, interactiveDismissal: never } }]",
                "10:73: interactiveDismissal must be true or false"
            ),
            (
                """
                on: event.A
                    do:
                      - present:
                          screen: item
                          style: dialog
                          buttons: [{ id: a, title: A, role: cancel }, { id: b, title: B, role: cancel }]
                """, "14:75: a dialog can have only one button with role: cancel"
            ),
            (
                """
                on: event.A
                    do:
                      - present:
                          screen: item
                          style: dialog
                          buttons:
                            - { id: a, title: A, sends: event.X }
                            - { id: b, title: B, sends: command.Y }
                """, "15:34: "
            ),
            (
                "on: event.A\n    do: [{ present: { screen: item, style: dialog, buttons: [{ id: a, title: A, role: x }] } }]",
                "10:87: unknown role 'x'; known: cancel, destructive"
            ),
            (
                "on: event.A\n    do: [{ setRoot: { screen: item, container: grid } }]",
                "10:48: unknown container 'grid'"
            ),
        ])
    func refused(rule: String, expected: String) {
        let found = findings(rule: "  - " + rule)
        #expect(found.contains { $0.hasPrefix("shop.yaml:" + expected) }, "\(found)")
    }

    @Test("A flow built in Swift has the same findings, with the path in the flow")
    func built() throws {
        let error = #expect(throws: FlowError.self) {
            try Flow("shop", version: 1, platform: "ios", start: "list") {
                Flow.Screen("list")
                Flow.Screen("list")
                Flow.Transition(on: "event.A", do: [.pop, .push("itme")])
            }
        }
        #expect(
            error?.message == """
                flow shop: screens.list: screen 'list' is declared twice; remove one
                flow shop: transitions[0].do[1].screen: unknown screen 'itme'; known: list
                """)
        #expect(error?.code == "navigation.invalidFlow")
    }

    @Test("Nested aliases, aliases in keys, and keys that differ only in quotes are refused")
    func expansions() {
        let head = "name: t\nversion: 1\nplatform: ios\nstart: home\nscreens: { home: }\ntransitions:\n"
        let rule = "  - on: event.A\n    do:\n      - push:\n          screen: home\n          arguments:\n"
        var bomb = "            a0: &a0 [\(Array(repeating: "lol", count: 10).joined(separator: ", "))]\n"
        for level in 1...8 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            bomb += "            a\(level): &a\(level) [\(aliases)]\n"
        }
        #expect(
            findings(head + rule + bomb) == [
                "shop.yaml:1:1: the file has more than 1000000 values with its aliases resolved; use fewer aliases"
            ])
        #expect(
            findings(head + rule + bomb + "            ? *a8\n            : x\n") == [
                "shop.yaml:21:1: a YAML alias cannot be a part of a key; write the key itself"
            ])
        #expect(
            findings(head + "  - { on: event.A, do: [{ push: { screen: home, arguments: { 1: a, \"1\": b } } }] }\n")
                == [
                    "shop.yaml:7:68: duplicate key '1'; remove one of them"
                ])
    }

    @Test("A flow without screens is refused")
    func noScreens() {
        #expect(
            findings("name: t\nversion: 1\nplatform: ios\nstart: a\nsteps: []\n") == [
                "shop.yaml:1:1: the flow has no screens; add one"
            ])
    }

    @Test("A rule on a type with a wildcard is refused")
    func wildcard() {
        let yaml = "name: t\nversion: 1\nplatform: ios\nstart: a\nscreens: { a: }\ntransitions:\n"
        #expect(
            findings(yaml + "  - { on: event.*, do: [popToRoot] }\n") == [
                "shop.yaml:7:7: 'event.*' has a wildcard; list the types instead: on: [event.A, event.B]"
            ])
    }

    @Test("A list of conditions has at most 16 mappings")
    func manyConditions() {
        func rule(_ count: Int) -> String {
            let conditions = (0..<count).map { "{ path: { screen: item, arguments: { id: \($0) } } }" }
            return "  - on: event.A\n    when: [\(conditions.joined(separator: ", "))]\n    do: [{ push: item }]"
        }
        #expect(findings(rule: rule(16)) == [])
        #expect(
            findings(rule: rule(20_000)) == [
                "shop.yaml:10:11: 'when' has 20000 mappings, and at most 16 are allowed; join some"
            ])
    }

    @Test("Each type of an answer's list is checked")
    func severalAnswers() {
        func rule(_ accept: String) -> String {
            "  - on: event.A\n    guard: { accept: \(accept), reject: event.C, deadline: 5s }\n    do: [{ push: item }]"
        }
        #expect(findings(rule: rule("[event.B, error.B]")) == [])
        #expect(
            findings(rule: rule("[event.B, command.B]")) == [
                "shop.yaml:10:14: 'command.B' cannot answer a guard; write event.NAME, error.NAME or document.NAME"
            ])
        #expect(
            findings(rule: rule("[event.B, event.C]")) == [
                "shop.yaml:10:14: 'accept' matches every message that 'reject' matches; distinguish them with 'where'"
            ])
        #expect(findings(rule: rule("[]")) == ["shop.yaml:10:14: the answer names no message; add its type"])
    }

    @Test("Conditions in a list are reported at their own positions, and equal ones are refused")
    func conditionLists() {
        func rule(_ when: String) -> String { "  - on: event.A\n    when:\n\(when)    do: [{ push: item }]" }
        #expect(findings(rule: rule("      - { path: list }\n      - { path: item }\n")) == [])
        #expect(
            findings(rule: rule("      - { path: list }\n      - { root: list }\n      - { root: lst, path: itme }\n"))
                == [
                    "shop.yaml:13:17: unknown screen 'lst'; did you mean 'list'?",
                    "shop.yaml:13:28: unknown screen 'itme'; did you mean 'item'?",
                ])
        #expect(
            findings(rule: rule("      - { path: list }\n      - { path: list }\n")) == [
                "shop.yaml:12:17: the same condition on 'path' is given twice; remove one"
            ])
        #expect(
            findings(rule: "  - on: event.A\n    unless: []\n    do: [{ push: item }]").map { $0.prefix(46) } == [
                "shop.yaml:10:13: 'unless' must be a mapping wi"
            ])
    }

    @Test("Each type of a rule's list is checked, and the list cannot be empty")
    func severalTypes() {
        #expect(findings(rule: "  - on: [event.A, command.ItemSelected]\n    do: [{ push: item }]") == [])
        #expect(
            findings(rule: "  - on: []\n    do: [{ push: item }]") == [
                "shop.yaml:9:5: 'on' names no message; add its type"
            ])
        #expect(
            findings(rule: "  - on: [event.A, Hello, command.BackCompleted]\n    do: [{ push: item }]") == [
                "shop.yaml:9:5: 'Hello' is not the type of a message; write command.NAME or event.NAME",
                "shop.yaml:9:5: 'command.BackCompleted' is a view's report, which the machine handles itself; "
                    + "remove this rule",
            ])
    }

    @Test("Deeply nested steps are read once each")
    func nestedSteps() throws {
        var yaml = "name: t\nversion: 1\nplatform: ios\nstart: s0\nsteps:\n"
        for step in 0..<200 {
            let indentation = String(repeating: "    ", count: step)
            yaml += "\(indentation)  - screen: s\(step)\n"
            if step < 199 { yaml += "\(indentation)    next: command.N\(step)\n\(indentation)    steps:\n" }
        }
        let flow = try Flow(yaml: yaml, file: "shop.yaml")
        #expect(flow.screens.count == 200)
        #expect(flow.transitions.count == 199)
    }
}
