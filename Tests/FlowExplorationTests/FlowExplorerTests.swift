import FlowExploration
import FlowFiles
import FlowReview
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Explored flows")
struct FlowExplorerTests {
    private static func flow(_ rules: String) throws -> Flow {
        try Flow.small(screens: "  a: { sends: [command.X] }\n  b: { sends: [command.Y] }\n  c:", rules)
    }

    private func explore(_ rules: String) throws -> Exploration {
        var explorer = FlowExplorer([try Self.flow(rules)])
        return explorer.explore()
    }

    @Test("All states are found once, however many ways lead to them")
    func states() throws {
        let exploration = try explore(
            """
              - { on: command.X, when: { top: a }, do: [{ push: b }] }
              - { on: command.Y, when: { top: b }, do: [{ present: { screen: c, style: sheet } }] }
            """)
        // a; b on a; c over b. From c the user swipes back to b, from b to a.
        #expect(exploration.stateCount == 3)
        #expect(exploration.coverages[0].unreachedScreens == [])
        #expect(exploration.coverages[0].unusedPlaces == [])
        #expect(exploration.isWhole)
    }

    @Test("Screens and rules that nothing leads to are found")
    func unreached() throws {
        let exploration = try explore(
            """
              - { on: command.X, when: { top: a }, do: [{ push: b }] }
              - { on: command.Y, when: { top: a }, do: [{ push: c }] }
            """)
        #expect(exploration.coverages[0].unreachedScreens == ["c"])
        #expect(exploration.coverages[0].unusedPlaces == ["transitions[1]"])
    }

    @Test("A rule that always fails is found, with the error")
    func failing() throws {
        let exploration = try explore("  - { on: command.X, do: [{ pop: 3 }] }")
        let use = try #require(exploration.coverages[0].uses["transitions[0]"])
        #expect(use.count == use.failureCount)
        #expect(use.failure != nil)
    }

    @Test("A screen that the user cannot leave is found, with the story to it")
    func trap() throws {
        let flow = try Self.flow(
            "  - { on: command.X, when: { top: a }, do: [{ setRoot: b }] }\n  - { on: event.Tick, do: [{ update: { screen: b, arguments: { n: 1 } } }] }"
        )
        var explorer = FlowExplorer([flow])
        explorer.explore()
        let found = explorer.findings(in: 0).first { $0.problem.code == .deadEnd }
        #expect(found?.problem.keyPath == "screens.b")
        #expect(found?.story?.steps == ["- send: { type: command.X, from: a }"])
    }

    @Test("The flows of the focus player have no faults, on both platforms of a session")
    func shipped() throws {
        let flows = try ["ios", "mac"].map(ShippedFlows.flow)
        var explorer = FlowExplorer(flows)
        let exploration = explorer.explore()
        #expect(exploration.isWhole)
        for index in flows.indices {
            let found = explorer.findings(in: index)
            #expect(found.isEmpty, "\(found.map(\.problem))")
        }
    }

    @Test("Of rules with one question, each is reached by its answer")
    func answers() throws {
        let question = "ask: command.Check, deadline: 5s"
        let rules = """
              - { on: command.X, when: { top: a }, guard: { \(question), accept: { on: event.Good } }, do: [{ push: b }] }
              - { on: command.X, when: { top: a }, guard: { \(question), accept: { on: event.Bad } }, do: [{ push: c }] }
            """
        let coverage = try explore(rules).coverages[0]
        #expect(coverage.unusedPlaces == [])
        #expect(coverage.unreachedScreens == [])
    }

    @Test("A rule that answers a command of the other platform is reached only with that platform")
    func lockstep() throws {
        let (ios, mac) = (try ShippedFlows.flow("ios"), try ShippedFlows.flow("mac"))
        var alone = FlowExplorer([ios])
        #expect(alone.explore().coverages[0].unusedPlaces.count == 1)
        var both = FlowExplorer([ios, mac])
        #expect(both.explore().coverages[0].unusedPlaces == [])
    }

    @Test("An exploration that ends at its limit says that there is more")
    func limit() throws {
        var explorer = FlowExplorer([try ShippedFlows.flow("ios")], limit: 10)
        let exploration = explorer.explore()
        #expect(exploration.limits == [.states])
    }

    @Test("A screen that is opened on itself without end is explored three times, and named")
    func repetition() throws {
        let exploration = try explore("  - { on: command.X, when: { top: a }, do: [{ push: a }] }")
        #expect(exploration.limits == [.repetition(screen: "a")])
        // The root, and up to three instances on it.
        #expect(exploration.stateCount == 4)
    }

    @Test("Two machines that differ only in former messages, or in screens that leave, have one form")
    func equality() throws {
        let flow = try Self.flow("  - { on: command.X, do: [{ push: b }] }\n  - { on: command.Y, do: [pop] }")
        var machine = Machine(flow: flow)
        let first = ExploredMachine(machine)
        for number in 0..<3 {
            let platform = Machine.Attributes(platform: "ios")
            _ = machine.handle(Machine.Input(id: "x\(number)", type: "command.X", attributes: platform))
            #expect(ExploredMachine(machine) != first)
            _ = machine.handle(Machine.Input(id: "y\(number)", type: "command.Y", attributes: platform))
            #expect(machine.state.leaving.count == number + 1)
            #expect(ExploredMachine(machine) == first)
        }
    }

    @Test("Fields have the values of the contract")
    func contract() throws {
        let rules = """
              - { on: event.Done, where: { result: good }, do: [{ setRoot: b }] }
              - { on: event.Done, where: { result: { not: good } }, do: [{ setRoot: c }] }
            """
        let flow = try Self.flow(rules)
        let schema = JSONSchema.object(requiring: ["result": .enumeration(["good"])])
        var explorer = FlowExplorer([flow], messages: MessageCatalogue(["event.Done": schema]))
        #expect(explorer.explore().coverages[0].unusedPlaces == ["transitions[1]"])
        var open = FlowExplorer([flow])
        #expect(open.explore().coverages[0].unusedPlaces == [])
    }

    private func explore(screens: String, _ rules: String, _ rest: String = "") throws -> (
        exploration: Exploration, places: [String]
    ) {
        let flow = try Flow.small(screens: "  {\(screens)}", rules, rest: rest)
        var explorer = FlowExplorer([flow])
        let exploration = explorer.explore()
        return (exploration, explorer.findings(in: 0).map { $0.problem.keyPath })
    }

    @Test("Redirects and links that only send commands are reached; the types of their values are those of the flow")
    func links() throws {
        let found = try explore(
            screens: "a: { sends: [command.X] }, item: { arguments: { id: { enum: [red, blue] }, size: integer } }",
            """
              - { on: command.X, when: { top: a }, do: [{ push: { screen: item, arguments: { id: red, size: 1 } } }] }
              - { on: command.Refresh, origin: any, do: [{ openURL: "https://shop.example" }] }
            """,
            """
            links:
              - { url: "https://shop.example/{id}/{size:integer}", redirect: "shop://item/${url.id}/${url.size}" }
              - { url: "shop://refresh", action: true, send: command.Refresh }
              - url: "shop://item/{id}/{size:integer}"
                to: { root: a, path: [{ screen: item, arguments: { id: "${url.id}", size: "${url.size}" } }] }
            """)
        #expect(found.places == [])
        #expect(found.exploration.isWhole)
    }

    @Test("A gate that only a launch closes is left, and so is a state that the exploration leaves out")
    func gates() throws {
        let gate = "a: { sends: [command.X] }, lock: { gate: true, sends: [command.Y] }"
        let launch = try explore(
            screens: gate,
            """
              - { on: command.X, when: { top: a }, do: [{ setRoot: lock }] }
              - { on: command.Y, when: { top: lock }, do: [{ openURL: "https://shop.example" }] }
              - { on: event.LaunchFinished, when: { top: lock }, do: [{ setRoot: a }] }
            """)
        #expect(launch.places == [])
        let beyond = try explore(
            screens: gate,
            """
              - { on: command.X, when: { top: a }, do: [{ setRoot: lock }] }
              - { on: command.Y, do: [{ push: lock }] }
            """)
        #expect(!beyond.exploration.isWhole)
        #expect(beyond.places == [])
    }

    @Test("The parts of a guard are told apart: answers that never come, and actions that fail after an answer")
    func parts() throws {
        let found = try explore(
            screens: "a: { sends: [command.X] }, b",
            """
              - on: command.X
                when: { top: a }
                guard:
                  ask: command.Check
                  accept: { on: event.Checked, where: { result: good } }
                  reject: { on: event.Checked, where: { result: { not: good } } }
                  deadline: 5s
                  rejected: [{ pop: 3 }]
                  expired: [{ openURL: "https://shop.example" }]
                do: [{ push: b }]
            """)
        #expect(found.places == ["transitions[0].guard.rejected"])
    }

    @Test("A guard that holds back messages is explored with two of them, and named")
    func queue() throws {
        let found = try explore(
            screens: "a: { sends: [command.X, command.Y] }, b",
            """
              - { on: command.X, guard: { ask: command.Check, accept: event.Good, deadline: 5s, meanwhile: queue }, do: [{ setRoot: b }] }
              - { on: command.Y, do: [{ openURL: "https://shop.example" }] }
            """)
        #expect(found.exploration.limits == [.queue])
    }

    @Test("Commands that lead to each other without end are found")
    func sends() throws {
        let found = try explore(
            screens: "a: { sends: [command.X] }",
            "  - { on: command.X, origin: any, do: [{ send: command.X }] }")
        #expect(found.exploration.isWhole && found.places == ["transitions[0].do"])
    }

    @Test("Nothing that covers the screen is swiped away")
    func covered() throws {
        let screens = "a: { sends: [command.X] }, b: { sends: [command.X] }"
        func places(_ style: String) throws -> [String] {
            let action = "present: { screen: b, style: \(style) }"
            return try explore(screens: screens, "  - { on: command.X, when: { top: a }, do: [{ \(action) }] }").places
        }
        #expect(try places("sheet") == [])
        #expect(try places("fullScreen") == ["screens.b"])
    }

    @Test("Fields have values on both sides of a limit, and only those that the declared type allows")
    func values() throws {
        let rules = """
              - { on: command.Set, where: { size: { atLeast: 5 } }, do: [{ setRoot: a }] }
              - { on: command.Set, where: { size: 5 }, do: [{ setRoot: b }] }
              - { on: command.Set, where: { size: { atMost: 3 } }, do: [{ setRoot: b }] }
            """
        let commands = "commands: { command.Set: { size: { type: integer, minimum: 4 } } }"
        let found = try explore(screens: "a: { sends: [command.Set] }, b: { sends: [command.Set] }", rules, commands)
        #expect(found.places == ["screens.b", "transitions[1]", "transitions[2]"])
    }
}
