import FlowFiles
import FlowReview
import Navigation
import SampleFlows
import Testing

@Suite("A flow's graph")
struct FlowGraphTests {
    private func lines(_ flow: Flow) -> [String] {
        flow.graph.edges.map { edge in
            "\(edge.from ?? "*") \(edge.message) \(edge.to ?? "-") \(edge.placement) \(edge.rule.keyPath)"
                + (edge.rule.answer.map { " \($0)" } ?? "") + (edge.begins.map { " \($0)" } ?? "")
        }
    }

    private func flow(_ rules: Flow.Transition..., child: [Flow.Transition] = []) throws -> Flow {
        try Flow("graph", version: 1, platform: "any", start: "a") {
            Flow.Screen("a", title: "The first", sends: ["command.Next"])
            for name in ["b", "c", "d"] { Flow.Screen(name) }
            Flow.Child("child", start: "d", transitions: child)
            for rule in rules { rule }
        }
    }

    @Test("The graph of the phone's flow has the source, target and style of each message")
    func phone() throws {
        #expect(
            try lines(ShippedFlows.flow("ios")).prefix(8) == [
                "launch event.LaunchFinished serviceSelection root transitions[0]",
                "launch event.SpotifyAuthorizationUpdated playlistSelection root transitions[1]",
                "serviceSelection event.SpotifyAuthorizationUpdated playlistSelection root transitions[1]",
                "* event.SpotifyAuthorizationUpdated serviceSelection root transitions[2]",
                "playlistSelection command.PlaylistSelected - before transitions[4]",
                "playlistSelection command.PlaylistSelected generatedPlaylist path transitions[4]",
                "playlistSelection command.PlaylistSelected - before transitions[5]",
                "playlistSelection command.PlaylistSelected generatedPlaylist path transitions[5]",
            ])
        #expect(try ShippedFlows.flow("ios").graph.nodes.allSatisfy(\.isReached))
    }

    @Test("The graph has the way in which each action shows a screen")
    func places() throws {
        let split = Flow.Transition(
            on: "event.Split", do: [.setRoot("b", container: .split), .show("c", column: "x"), .pop("b")])
        let tabs = Flow.Transition(
            on: "event.Tabs", when: [.root("b")],
            do: [.setRoot("c", container: .tabs([.tab("t", "a"), "d"])), .selectTab("t")])
        let over = Flow.Transition(
            on: "error.Over", when: [.top("c")],
            do: [.present("b", as: .sheet), .presentFlow("child", as: .popover), .openURL("x:"), .dismissAll])
        #expect(
            try lines(flow(split, tabs, over)) == [
                "* event.Split b root transitions[0]", "* event.Split c column(\"x\") transitions[0]",
                "* event.Split b before transitions[0]", "b event.Tabs c root transitions[1]",
                "b event.Tabs a tab(\"t\") transitions[1]", "b event.Tabs d tab(\"d\") transitions[1]",
                "b event.Tabs a tab(\"t\") transitions[1]",
                "c error.Over b presented(Navigation.PresentationStyle.sheet) transitions[2]",
                "c error.Over d presented(Navigation.PresentationStyle.popover) transitions[2] child",
                "c error.Over - before transitions[2]",
            ])
        let kinds = try flow(split, over).graph.edges.map(\.kind)
        #expect(Set(kinds) == [.event, .error])
    }

    @Test("A rule starts at the front, at a sender, at a visible screen, on its root, or anywhere")
    func origins() throws {
        func origins(_ rule: Flow.Transition) throws -> [String?] { try flow(rule).graph.edges.map(\.from) }
        func rule(
            on: String = "event.A", _ when: Flow.Condition..., unless: [Flow.Condition] = []
        ) -> Flow.Transition {
            Flow.Transition(on: on, when: when, unless: unless, do: [.push("b")])
        }
        #expect(try origins(rule(on: "command.Next", .top("c", "b"), .root("a"))) == ["b", "c"])
        #expect(try origins(rule(on: "command.Next", .root("d"))) == ["a"])
        #expect(try origins(rule(on: "command.Next", unless: [.top("a")])) == [nil])
        #expect(try origins(rule(.shown("c"), .root("a"))) == ["c"])
        #expect(try origins(rule(.root("a"))) == ["a"])
        #expect(try origins(rule(.path())) == [nil])
        #expect(try origins(rule()) == [nil])
    }

    @Test("The graph distinguishes guards and child flows")
    func guardsAndChildFlows() throws {
        let begin = Flow.Transition(
            on: "command.Next",
            guard: Flow.Guard(
                accept: "event.Yes", reject: "event.No", deadline: .seconds(1), rejected: [.push("b")],
                expired: [.popToRoot]),
            do: [.pushFlow("child")])
        let ended = Flow.Transition(on: "flow.finished", where: ["flow": "child"], do: [.push("c")])
        let flow = try flow(begin, ended, child: [Flow.Transition(on: "event.End", do: [.finish()])])
        #expect(
            lines(flow) == [
                "a command.Next d path transitions[0] accepted child",
                "a command.Next b path transitions[0] rejected",
                "a command.Next - before transitions[0] expired",
                "d flow.finished c path transitions[1]",
                "* event.End - before flows.child.transitions[0]",
            ])
        #expect(flow.graph.edges.map(\.kind) == [.command, .command, .command, .flow, .event])
    }

    @Test("A rule on several types has an edge for each of them")
    func severalTypes() throws {
        let flow = try flow(Flow.Transition(on: ["event.A", "command.Next"], do: [.push("b")]))
        #expect(lines(flow) == ["a command.Next b path transitions[0]", "* event.A b path transitions[0]"])
        #expect(flow.graph.edges.map(\.kind) == [.command, .event])
    }

    @Test("A screen of the graph has its title, its possible places, and whether it can be reached")
    func nodes() throws {
        let island = Flow.Transition(on: "event.A", when: [.top("b")], do: [.push("b"), .push("c")])
        let nodes = try flow(island, Flow.Transition(on: "event.B", do: [.push("d")])).graph.nodes
        #expect(nodes.map(\.screen) == ["a", "b", "c", "d"])
        #expect(nodes.map(\.isReached) == [true, false, false, true])
        #expect(nodes.map(\.placements) == [[.root], [.path], [.path], [.path]])
        #expect(nodes.map(\.isStart) == [true, false, false, false])
        #expect(nodes.first?.title == "The first")
    }

    @Test("Equal flows have equal graphs, whether they are read or built")
    func determinism() throws {
        #expect(try ShippedFlows.flow("ios").graph == FocusPlayerFlow.ios().graph)
        #expect(try Flow(yaml: SignUpFlow.yaml, file: "x").graph == SignUpFlow.built().graph)
    }
}

@Suite("Unreachable screens and traps")
struct FlowReachTests {
    /// The findings for a flow whose screens begin on line 6.
    private func findings(_ parts: String, head: String = "start: list") -> [String] {
        let yaml = "name: shop\nversion: 1\nplatform: ios\n\(head)\nscreens:\n" + parts
        return Flow.review(yaml: yaml, file: "shop.yaml").findings.map(\.text)
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
              east: { sends: [command.West], once: true }
              west: { sends: [command.East], once: true }
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

    @Test("Every action that shows a screen makes it reachable")
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

    @Test("A child flow that never runs is reported, instead of each of its screens")
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
                "shop.yaml:10:3: warning: no rule that can apply begins child flow 'child'; add one, or remove it"
            ])
    }

    @Test("A root that no rule leaves is a trap")
    func rootTrap() {
        let parts = """
              list: { sends: [command.Next], once: true }
              end: { sends: [command.Idle] }
            transitions:
              - { on: command.Next, do: [{ setRoot: end }] }

            """
        let trap = "shop.yaml:7:3: warning: the user cannot leave 'end': no rule leads on from it as the root; add one"
        #expect(findings(parts) == [trap])
        #expect(findings(parts + "  - { on: command.Idle, do: [{ send: command.X }] }\n") == [trap])
        #expect(findings(parts + "  - { on: event.A, unless: { top: end }, do: [{ push: list }] }\n") == [trap])
        #expect(findings(parts + "  - { on: event.A, unless: { path: [] }, do: [{ push: list }] }\n") == [trap])
        #expect(findings(parts + "  - { on: event.A, do: [{ setRoot: end }] }\n") == [trap])
        #expect(findings(parts + "  - { on: event.A, do: [{ push: list }] }\n").isEmpty)
        #expect(findings(parts + "  - { on: command.Idle, when: { root: end }, do: [{ push: list }] }\n").isEmpty)
        #expect(findings(parts, head: "start: list\nrequests: [setRoot]").isEmpty)
        // A later root that sends nothing is the end of the flow, and a deep link leads on from any screen.
        #expect(findings(parts.replacing("end: { sends: [command.Idle] }", with: "end:")).isEmpty)
        #expect(findings(parts + "links:\n  - { url: 'shop://list', to: { root: list } }\n").isEmpty)
        #expect(findings(parts + "links:\n  - { url: 'shop://end', to: { root: end } }\n") == [trap])
    }

    @Test("A presentation that the user cannot dismiss is a trap without a rule that leaves it")
    func presentedTrap() {
        func parts(_ present: String, _ rule: String = "") -> String {
            "  list: { sends: [command.Next] }\n  over:\ntransitions:\n  - { on: command.Next, do: [{ present: { "
                + "screen: over, \(present) } }] }\n" + (rule.isEmpty ? "" : "  - \(rule)\n")
        }
        let trap =
            "shop.yaml:7:3: warning: the user cannot leave 'over': it cannot be dismissed, and no rule leads on; "
            + "add one"
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

    @Test("A single screen is not a trap, and neither are tabs")
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
