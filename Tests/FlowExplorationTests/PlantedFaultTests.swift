import FlowExploration
import FlowFiles
import FlowReview
import Navigation
import Support
import Testing

@Suite("Faults that only an exploration finds")
struct PlantedFaultTests {
    private func findings(
        _ screens: String, _ rules: String, rest: String = "", messages: MessageCatalogue = MessageCatalogue([:])
    ) throws -> [String] {
        let flow = try Flow.small(screens: screens, rules, rest: rest)
        var explorer = FlowExplorer([flow], messages: messages)
        let exploration = explorer.explore()
        #expect(exploration.isWhole)
        return try explorer.findings(in: 0).map { found in
            if let story = found.story, !story.steps.isEmpty {
                #expect(story.isExact)
                // The steps can be played as a scenario. The last one may fail, if it shows a rule that fails.
                let scenario = try Scenario(yaml: story.steps.joined(separator: "\n"), file: "story.yaml", flow: flow)
                #expect(scenario.play(on: flow).dropLast().allSatisfy { $0.failures.isEmpty })
            }
            let story = found.story.map { ": " + $0.steps.joined(separator: " ") } ?? ""
            return "\(found.problem.keyPath) \(found.problem.code?.rawValue ?? "")\(story)"
        }
    }

    @Test("An alert that always hides the screen whose rule is meant")
    func hidden() throws {
        let found = try findings(
            "  a: { sends: [command.X] }\n  b: { sends: [command.Y] }\n  hint:\n  c:",
            """
              - on: command.X
                do: [{ push: b }, { present: { screen: hint, style: alert, title: Hi, buttons: [{ id: ok, title: OK, sends: command.Z }] } }]
              - { on: command.Z, do: [{ setRoot: a }] }
              - { on: event.Done, when: { top: b }, do: [{ push: c }] }
            """)
        #expect(found == ["screens.c unreached", "transitions[2] never-applies"])
    }

    @Test("A pop to a screen that is only presented, which changes nothing")
    func presented() throws {
        let found = try findings(
            "  a: { sends: [command.X] }\n  b: { sends: [command.Y] }",
            """
              - { on: command.X, when: { top: a }, do: [{ present: { screen: b, style: sheet } }] }
              - { on: command.Y, do: [{ pop: { to: b } }] }
            """)
        #expect(
            found == [
                "transitions[1] impossible-action: - send: { type: command.X, from: a } - send: { type: command.Y, from: b }"
            ])
    }

    @Test("A condition on a tab of a root that is never there")
    func tab() throws {
        let found = try findings(
            "  a: { sends: [command.X] }\n  home: { sends: [command.Y] }\n  other:\n  c:",
            """
              - on: command.X
                when: { root: a }
                do: [{ setRoot: { screen: home, container: { tabs: [{ name: one, screen: home }, { name: two, screen: other }] } } }]
              - { on: event.Done, when: { root: a, tab: two }, do: [{ push: c }] }
            """)
        #expect(found == ["screens.c unreached", "transitions[1] never-applies"])
    }

    @Test("An answer without a branch")
    func answer() throws {
        let found = try findings(
            "  a: { sends: [command.X] }\n  b:",
            """
              - on: command.X
                when: { top: a }
                guard:
                  ask: command.Check
                  accept: { on: event.Checked, where: { result: good } }
                  reject: { on: event.Checked, where: { result: bad } }
                  deadline: 5s
                do: [{ push: b }]
            """,
            messages: MessageCatalogue([
                "event.Checked": .object(requiring: ["result": .enumeration(["good", "bad", "old"])])
            ]))
        #expect(
            found == [
                "transitions[0].guard dead-end: - send: { type: command.X, from: a } "
                    + #"- send: { type: event.Checked, data: {"result":"old"}, platform: ios, causedBy: command.Check }"#
            ])
    }

    @Test("A gate that nobody passes")
    func gate() throws {
        let found = try findings(
            "  a: { sends: [command.X] }\n  lock: { gate: true, sends: [command.Y] }\n  b: { sends: [command.Z] }",
            """
              - { on: command.X, when: { top: a }, do: [{ setRoot: lock }] }
              - { on: command.Y, when: { top: lock }, do: [{ push: b }] }
              - { on: command.Z, when: { top: b }, do: [{ openURL: "https://example.org" }] }
            """)
        #expect(found == ["screens.lock dead-end: - send: { type: command.X, from: a }"])
    }

    @Test("A platform that never comes back to where the other one is")
    func platforms() throws {
        func flow(_ platform: String, _ rules: String) throws -> Flow {
            try Flow.small(
                platform, start: "welcome", screens: "  welcome:\n  home:\n  login:",
                """
                  - { on: event.LoggedIn, when: { root: welcome }, do: [{ setRoot: home }] }
                  - { on: event.Expired, when: { root: welcome }, do: [{ setRoot: login }] }
                \(rules)
                """)
        }
        let logOut = "  - { on: event.LoggedOut, when: { root: home }, do: [{ setRoot: login }] }"
        func findings(_ rules: String) throws -> [String] {
            var explorer = FlowExplorer([try flow("ios", logOut), try flow("mac", rules)])
            explorer.explore()
            return explorer.findings(in: 1).map {
                "\($0.problem.keyPath): \($0.story?.steps.joined(separator: " ") ?? "")"
            }
        }
        #expect(try findings(logOut) == [])
        #expect(try findings("") == ["screens.home: - send: event.LoggedIn - send: event.LoggedOut"])
    }

    @Test("Actions that fail in some states are noted, with the first of them")
    func sometimes() throws {
        let found = try findings(
            "  a: { sends: [command.X, command.Out] }\n  b: { sends: [command.Out] }",
            """
              - { on: command.X, when: { top: a }, do: [{ push: b }] }
              - { on: command.Out, do: [pop] }
            """)
        #expect(found == ["transitions[1] impossible-action: - send: { type: command.Out, from: a }"])
    }

    @Test("Two platforms that only swap their roles do not disagree")
    func roles() throws {
        func flow(_ platform: String, _ first: String, _ second: String) throws -> Flow {
            try Flow.small(
                platform, start: "idle",
                screens:
                    "  idle: { sends: [\(first)] }\n  player: { sends: [\(second)] }\n  remote: { sends: [\(first)] }",
                """
                  - { on: \(first), unless: { root: player }, do: [{ setRoot: player }] }
                  - { on: \(second), unless: { root: remote }, do: [{ setRoot: remote }] }
                """)
        }
        var explorer = FlowExplorer([
            try flow("ios", "command.OnPhone", "command.OnMac"), try flow("mac", "command.OnMac", "command.OnPhone"),
        ])
        #expect(explorer.explore().isWhole)
        #expect([0, 1].flatMap { explorer.findings(in: $0) }.map(\.problem.keyPath) == [])
    }

    @Test("A story tells what the user does on the other platform, in a comment")
    func otherPlatform() throws {
        let call = "{ present: { screen: call, style: sheet } }"
        let ios = try Flow.small(
            "ios", screens: "  a:\n  call: { sends: [command.Answer] }",
            """
              - { on: command.Call, unless: { presented: call }, do: [\(call)] }
              - { on: command.Answer, when: { presented: call }, do: [{ dismiss: call }] }
            """)
        let mac = try Flow.small(
            "mac", screens: "  a: { sends: [command.Call] }\n  ringing:",
            """
              - on: command.Call
                unless: { presented: ringing }
                do: [{ present: { screen: ringing, style: sheet, interactiveDismissal: false } }]
              - { on: command.Answer, when: { presented: ringing }, do: [{ dismiss: ringing }] }
            """)
        var explorer = FlowExplorer([ios, mac])
        explorer.explore()
        let found = explorer.findings(in: 1)
        #expect(found.map(\.problem.keyPath) == ["screens.ringing"])
        #expect(found.first?.story?.steps == ["- send: { type: command.Call, from: a }", "# on ios: dismiss: call"])
        #expect(found.first?.story?.text.hasSuffix("\n# on ios: dismiss: call") == true)
    }

    @Test("A review does not report what an exploration proves to be possible")
    func proof() throws {
        let flow = """
            name: pay
            version: 1
            platform: ios
            start: payment
            screens:
              payment: { sends: [command.Pay] }
              spinner:
              receipt:
            transitions:
              - on: command.Pay
                when: { shown: payment }
                guard: { ask: command.Store, accept: event.Stored, deadline: 5s, expired: [{ ifPossible: { dismiss: spinner } }] }
                do: [{ dismiss: spinner }, { push: receipt }]
              - on: event.Started
                when: { top: payment }
                do: [{ present: { screen: spinner, style: fullScreen } }]
            """
        let reading = FlowReading(yaml: flow, file: "pay.yaml")
        let explored = FlowExplorer.problems(of: try #require(reading.flow), nil, openScreens: [])
        #expect(explored?.map(\.severity) == [.note])
        #expect(reading.review().findings.contains { $0.code == .deadEnd })
        #expect(reading.review(explored: explored).findings.map(\.severity) == [.note])
    }

    @Test("Child flows that begin and end each other")
    func children() throws {
        let found = try findings(
            "  a: { sends: [command.X] }\n  one: { sends: [command.Y] }\n  two:",
            """
              - { on: command.X, when: { top: a }, do: [{ push: { flow: first } }] }
              - { on: flow.abandoned, where: { flow: first }, do: [{ push: { flow: first } }, popToRoot] }
            """,
            rest: """
                flows:
                  first:
                    start: one
                    transitions:
                      - { on: command.Y, do: [{ finish: {} }] }
                """)
        #expect(
            found == [
                "screens.two unreached",
                "transitions[1] impossible-action: - send: { type: command.X, from: a } - back: one",
            ])
    }

    @Test("Commands of two platforms that lead to each other without end")
    func loop() throws {
        func flow(_ platform: String, _ rules: String) throws -> Flow {
            try Flow.small(platform, screens: "  a: { sends: [command.Start] }", rules)
        }
        func findings(_ mac: String) throws -> [String] {
            let ios = try flow(
                "ios",
                """
                  - { on: command.Start, do: [{ send: command.Ping }] }
                  - { on: command.Pong, do: [{ send: command.Ping }] }
                """)
            var explorer = FlowExplorer([ios, try flow("mac", mac)])
            let exploration = explorer.explore()
            return exploration.isWhole
                ? [0, 1].flatMap { explorer.findings(in: $0) }.map {
                    "\($0.problem.keyPath) \($0.problem.code?.rawValue ?? ""): \($0.story?.steps.first ?? "")"
                } : ["not whole"]
        }
        #expect(
            try findings("  - { on: command.Ping, do: [{ send: command.Pong }] }") == [
                "transitions[1].do endless: - send: { type: command.Start, from: a }",
                "transitions[0].do endless: - send: { type: command.Start, platform: ios }",
            ])
        #expect(
            try findings("  - { on: command.Ping, do: [{ openURL: 'https://example.com' }] }").count == 1, "no Pong")
    }

    @Test("Commands that lead to each other without end, and change the state again and again")
    func changingLoop() throws {
        let found = try findings(
            "  a: { sends: [command.X] }\n  b: { sends: [command.X] }",
            """
              - { on: command.X, do: [{ setRoot: b }, { send: command.Y }] }
              - { on: command.Y, do: [{ setRoot: a }, { send: command.X }] }
            """)
        #expect(found.count == 1)
        #expect(found.first?.contains("].do endless: - send: { type: command.X, from: a }") == true, "\(found)")
    }

    @Test("A screen that the user cannot leave, in a flow whose path grows without bound")
    func growth() throws {
        let flow = try Flow.small(
            screens: "  a: { sends: [command.X] }\n  b:\n  c: { sends: [command.Z] }\n  d: { sends: [command.W] }",
            """
              - { on: event.Alarm, do: [{ present: { screen: b, style: sheet } }] }
              - { on: command.X, when: { top: a }, do: [{ setRoot: c }] }
              - { on: event.Moved, when: { root: a }, do: [{ setRoot: d }] }
              - { on: command.W, when: { root: d }, do: [{ setRoot: a }] }
            """)
        var explorer = FlowExplorer([flow])
        let exploration = explorer.explore()
        #expect(exploration.limits == [.repetition(screen: "b")])
        let found = explorer.findings(in: 0)
        #expect(found.map(\.problem.keyPath) == ["screens.c"] && found.map(\.problem.severity) == [.note])
    }
}
