import Navigation
import Testing

@Suite("Screens that nothing leads to, and those that nothing leads out of")
struct FlowReachTests {
    /// What is to be said of a flow whose screens begin on line 6.
    private func findings(_ parts: String, head: String = "start: list") -> [String] {
        let yaml = "name: shop\nversion: 1\nplatform: ios\n\(head)\nscreens:\n" + parts
        return Flow.review(yaml: yaml, file: "shop.yaml").findings.map(\.description)
    }

    @Test("A screen that no rule shows, or only rules that never apply, is unreachable")
    func unreachable() {
        let parts = """
              list:
              item:
              lost:
              east:
              west:
            transitions:
              - { on: event.A, do: [{ push: item }] }
              - { on: event.B, when: { top: east }, do: [{ push: west }] }
              - { on: event.B, when: { top: west }, do: [{ push: east }] }
            """
        func warning(_ line: Int, _ screen: String) -> String {
            "shop.yaml:\(line):3: warning: nothing leads to '\(screen)'; show it in a rule that can apply, or remove it"
        }
        #expect(findings(parts) == [warning(8, "lost"), warning(9, "east"), warning(10, "west")])
        #expect(findings(parts, head: "start: list\nrequests: [push, pop]").isEmpty)
    }

    @Test("Screens that only send each other's commands are an island")
    func island() {
        let parts = """
              list:
              east: { sends: [command.West] }
              west: { sends: [command.East] }
            transitions:
              - { on: command.West, do: [{ push: west }] }
              - { on: command.East, do: [{ push: east }] }
              - { on: event.A, do: [{ push: list }] }
            """
        #expect(
            findings(parts).map { String($0.prefix(43)) } == [
                "shop.yaml:7:3: warning: nothing leads to 'e", "shop.yaml:8:3: warning: nothing leads to 'w",
            ])
        #expect(findings(parts + "\n  - { on: event.B, do: [{ push: east }] }").isEmpty)
    }

    @Test("Whatever shows a screen leads to it")
    func reached() {
        let parts = """
              list: { sends: [command.Go] }
              a:
              b:
              c:
              d: { title: D }
              e:
              f:
              g:
            flows:
              child: { start: c, transitions: [{ on: event.C, do: [{ push: d }] }] }
            transitions:
              - on: command.Go
                guard: { accept: event.Y, reject: event.N, deadline: 1s, rejected: [push: a], expired: [push: b] }
                do: [{ push: { flow: child } }]
              - { on: event.Split, do: [{ setRoot: { screen: list, container: split } }, { show: { screen: e, column: x } }] }
              - { on: event.Tabs, do: [{ setRoot: { screen: list, container: { tabs: [f, g] } } }] }
            """
        #expect(findings(parts).isEmpty)
    }

    @Test("A child flow that never runs is named, and not each of its screens")
    func idleFlow() {
        let parts = """
              list:
              c:
              d:
            flows:
              child:
                start: c
                transitions: [{ on: event.C, do: [{ push: d }] }]
            transitions: [{ on: event.A, do: [{ push: list }] }]
            """
        #expect(
            findings(parts) == [
                "shop.yaml:10:3: warning: nothing begins flow 'child'; push or present it, or remove it"
            ])
    }

    @Test("A root that no rule leads on from is a trap")
    func rootTrap() {
        let parts = """
              list: { sends: [command.Next] }
              end: { sends: [command.Idle] }
            transitions:
              - { on: command.Next, do: [{ setRoot: end }] }

            """
        let trap = "shop.yaml:7:3: warning: 'end' is a trap: no rule leads on when it is the root; add one"
        #expect(findings(parts) == [trap])
        #expect(findings(parts + "  - { on: command.Idle, do: [{ send: command.X }] }\n") == [trap])
        #expect(findings(parts + "  - { on: event.A, unless: { top: end }, do: [{ push: list }] }\n") == [trap])
        #expect(findings(parts + "  - { on: event.A, unless: { path: [] }, do: [{ push: list }] }\n") == [trap])
        #expect(findings(parts + "  - { on: event.A, do: [{ setRoot: end }] }\n") == [trap])
        #expect(findings(parts + "  - { on: event.A, do: [{ push: list }] }\n").isEmpty)
        #expect(findings(parts + "  - { on: command.Idle, when: { root: end }, do: [{ push: list }] }\n").isEmpty)
        #expect(findings(parts, head: "start: list\nrequests: [setRoot]").isEmpty)
    }

    @Test("A presentation that the user cannot dismiss needs a rule that leads on")
    func presentedTrap() {
        func parts(_ present: String, _ rule: String = "") -> String {
            "  list: { sends: [command.Next] }\n  over:\ntransitions:\n  - { on: command.Next, do: [{ present: { "
                + "screen: over, \(present) } }] }\n" + (rule.isEmpty ? "" : "  - \(rule)\n")
        }
        let trap =
            "shop.yaml:7:3: warning: 'over' is a trap: the user cannot dismiss it, and no rule leads on; add one"
        #expect(findings(parts("style: fullScreen")) == [trap])
        #expect(findings(parts("style: sheet, interactiveDismissal: false")) == [trap])
        #expect(findings(parts("style: fullScreen", "{ on: event.A, do: [pop] }")) == [trap])
        #expect(
            findings(parts("style: fullScreen", "{ on: event.A, when: { top: list }, do: [push: list] }")) == [trap])
        #expect(findings(parts("style: fullScreen", "{ on: event.A, do: [dismiss] }")).isEmpty)
        #expect(findings(parts("style: fullScreen", "{ on: event.A, when: { top: over }, do: [push: list] }")).isEmpty)
        #expect(findings(parts("style: sheet")).isEmpty)
        #expect(findings(parts("style: alert, title: A, buttons: [{ id: a, title: A }]")).isEmpty)
    }

    @Test("A lone screen has nowhere to lead, and tabs lead to one another")
    func noTraps() {
        #expect(findings("  list:\ntransitions: []").isEmpty)
        let tabs = """
              list: { sends: [command.Next] }
              home:
              search:
            transitions:
              - { on: command.Next, do: [{ setRoot: { screen: home, container: { tabs: [home, search] } } }] }
            """
        #expect(findings(tabs).isEmpty)
    }
}
