import Navigation

/// Flows' files that the schema must know to be right, or to be wrong.
enum SchemaExamples {
    private static let head = """
        name: x
        version: 1
        platform: any
        start: a

        """

    private static let guardOfStep = "{ accept: event.B, deadline: 5s }"
    private static let steps = "{ screen: b, where: { x: 1, answer.y: [1, 2] } }, { screen: c }"

    static func file(_ parts: String...) -> String {
        let isGiven = { (key: String) in parts.contains { $0.hasPrefix("\(key):") } }
        return head + (isGiven("screens") ? "" : "screens: { a: }\n")
            + (isGiven("transitions") ? "" : "transitions: []\n") + parts.map { $0 + "\n" }.joined()
    }

    static func rule(_ rest: String) -> String { file("transitions: [{ on: event.A, \(rest) }]") }

    static func action(_ action: String) -> String { rule("do: [\(action)]") }

    /// What the reader takes, in every form.
    static let good: [String] =
        [
            head + "steps: [{ screen: a, title: A, next: command.N, guard: \(guardOfStep), steps: [\(steps)] }]\n",
            file("steps: [{ screen: b, next: command.N, steps: [{ screen: c }] }]"),
            file("screens: { a: { title: 5, sends: command.A }, b: { sends: [command.A, command.B.C] }, c: {} }"),
            file("presentations: [sheet, window]", "requests: [push, finish]"), file("ignores: [event.A, error.B]"),
            file("flows: { f: { start: a, transitions: [{ on: event.A, do: [finish: { a: 1 }] }] } }"),
            file("transitions: [{ on: flow.finished, where: { flow: [f] }, do: [pop] }]", "flows: { f: \(child) }"),
            rule("origin: own, where: { a: 1, b.c: [1, x, null], d: true, e: null }, do: [pop]"),
            rule("where: { a: { not: x, exists: true, atLeast: 1.5, atMost: 2, anyOf: [a, { b: 1 }] } }, do: [pop]"),
            rule("when: { root: a, top: [a, { screen: a, arguments: { x: 1 } }], path: [], shown: a }, do: [pop]"),
            rule("unless: { presented: [], path: { screen: a } }, do: [pop]"),
            rule("guard: { accept: event.B, deadline: 5s }, do: [pop]"),
            rule(
                """
                guard: { ask: { type: command.B, data: { a: [1] } }, accept: { on: document.B, where: { a: 1 } },
                reject: error.C, deadline: 1500ms, meanwhile: queue, rejected: [pop], expired: [{ push: a }] }, do: [pop]
                """),
        ] + actions.map(action)

    private static let child = "{ start: a, transitions: [] }"

    private static let actions = [
        "pop, popToRoot, dismiss, dismissAll", "{ setRoot: a }", "{ setRoot: { screen: a, container: split } }",
        "{ setRoot: { screen: a, arguments: { x: y }, container: { tabs: [a, { name: b, screen: a }] } } }",
        "{ push: a }, { push: { screen: a, arguments: {} } }", "{ pop: 2 }, { pop: a }, { pop: { count: 2 } }",
        "{ show: { screen: a, column: c } }, { push: { screen: a, column: c } }, { pop: { to: a, column: c } }",
        "{ replacePath: [a, { screen: a }] }, { replacePath: a }, { replacePath: [] }", "{ dismiss: a }",
        "{ present: { screen: a, style: sheet, detents: [medium, large], dragIndicator: true } }",
        "{ present: { screen: a, style: window, interactiveDismissal: false } }",
        "{ present: { screen: a, style: dialog, buttons: [{ id: a, title: A, role: cancel, sends: command.A }] } }",
        "{ present: { screen: a, style: alert, title: A, message: M, buttons: [{ id: a, title: A }] } }",
        "{ openURL: 'x:' }, { send: command.A }, { send: { type: command.A, data: { a: '${data.a}' } } }",
    ]

    /// What neither the reader nor the schema takes, and where the schema says so.
    static let bad: [(yaml: String, path: String)] =
        [
            ("name: x", "$"), (file("screen: { a: }"), "$"), (file("screens: []"), "$.screens"),
            (file("screens: { a: { sends: event.A } }"), "$.screens.a.sends"),
            (file("screens: { a: { color: red } }"), "$.screens.a"),
            (file("presentations: [shet]"), "$.presentations[0]"), (file("requests: [jump]"), "$.requests[0]"),
            (file("ignores: [command.A]"), "$.ignores[0]"),
            (file("flows: { f: { start: a } }"), "$.flows.f"), (file("transitions: [{ on: event.A }]"), rules),
            (file("transitions: [{ on: Hello, do: [pop] }]"), "\(rules).on"), (rule("do: []"), "\(rules).do"),
            (rule("do: [pop], wehn: {}"), rules), (rule("do: [pop], origin: mine"), "\(rules).origin"),
            (rule("do: [pop], where: { a: {} }"), "\(rules).where.a"),
            (rule("do: [pop], where: { a: [] }"), "\(rules).where.a"),
            (rule("do: [pop], where: { a: { no: 1 } }"), "\(rules).where.a"),
            (rule("do: [pop], when: { root: [] }"), "\(rules).when.root"),
            (rule("do: [pop], when: { toop: a }"), "\(rules).when"),
            (rule("do: [pop], guard: { accept: event.A }"), "\(rules).guard"),
            (rule("do: [pop], guard: { accept: command.A, deadline: 5s }"), "\(rules).guard.accept"),
            (rule("do: [pop], guard: { accept: event.A, deadline: 5 }"), "\(rules).guard.deadline"),
            (rule("do: [pop], guard: { accept: event.A, deadline: 5s, ask: event.B }"), "\(rules).guard.ask"),
        ]
        + badActions.map { (action($0), "\(rules).do[0]") }

    private static let rules = "$.transitions[0]"

    private static let badActions = [
        "jump", "push", "{ popToRoot: 2 }", "{ push: { screen: a, flow: f } }", "{ pop: 0 }",
        "{ pop: { count: 1, to: a } }", "{ setRoot: { screen: a, container: grid } }", "{ show: a }",
        "{ setRoot: { screen: a, container: { tabs: [] } } }", "{ present: { screen: a } }",
        "{ present: { screen: a, style: alert, buttons: [{ id: a, title: A }] } }",
        "{ present: { screen: a, style: dialog } }", "{ present: { screen: a, style: popover, detents: [large] } }",
        "{ present: { screen: a, style: sheet, title: x } }",
        "{ present: { screen: a, style: fullScreen, interactiveDismissal: false } }",
        "{ present: { screen: a, style: dialog, buttons: [{ id: a }] } }", "{ send: event.A }",
        "{ send: { data: {} } }",
    ]
}
