import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@Suite("Random histories with acts of the user, waits and screens without a way back")
struct GoingHistoryTests {
    private static let steps = 150

    /// The playground with rules on acts of the user and rules that wait, also in a child flow.
    private static func flow() throws -> Flow {
        let base = try PlaygroundFlow.flow()
        let screens = base.screens.values.map { screen in
            Flow.Screen(screen.name, once: screen.name == "b", back: screen.name != "d")
        }
        let acts = [
            Flow.Transition(
                on: "user.wentBack", unless: [.top("c")],
                do: [.send(type: "command.Left", data: ["instance": "${data.instance}"]), .push("c")]),
            Flow.Transition(on: "user.dismissed", do: [.ifPossible(.pop), .goTo("b")]),
            Flow.Transition(on: "user.selectedTab", do: [.push("a"), .ifPossible(.dismiss(nil))]),
            Flow.Transition(on: "user.tappedTab", do: [.popToRoot]),
        ]
        let waits = [
            Flow.Transition(after: .seconds(1), when: [.top("a")], do: [.push("b")]),
            Flow.Transition(after: .seconds(2), when: [.path("c")], do: [.dismissAll, .pop]),
            Flow.Transition(after: .seconds(3), unless: [.presented()], do: [.dismiss(nil), .pop]),
        ]
        return Flow(
            name: base.name, version: 1, platform: base.platform, start: base.start, screens: screens,
            requests: [.push, .pop, .popToRoot, .back, .goTo],
            flows: base.flows.values.map { child in
                Flow.Child(child.name, start: child.start, transitions: child.transitions + [acts[0], waits[0]])
            },
            transitions: base.transitions + acts + waits, links: base.links)
    }

    /// The messages of a random history, of which some are deadlines of waits.
    private static func messages(seed: UInt64) -> (NavigationState) -> Machine.Input {
        var history = History(seed: seed, vocabulary: .playground)
        var random = SeededGenerator(seed: seed)
        return { state in
            var input = history.next(for: state)
            guard Int.random(in: 0..<5, using: &random) == 0, let wait = state.waits.randomElement(using: &random)
            else {
                return input
            }
            input.type = Machine.deadlinePassed
            input.data = ["attempt": .string(wait.id)]
            input.attributes = Machine.Attributes(time: input.attributes.time)
            return input
        }
    }

    @Test("Each state lists waits of different rules, and no user goes back from a locked screen", arguments: 0..<20)
    func invariants(seed: Int) throws {
        var machine = Machine(flow: try Self.flow())
        let next = Self.messages(seed: UInt64(seed))
        var dismissed = Set<String>()
        for _ in 0..<Self.steps {
            let before = machine
            let input = next(machine.state)
            let effects = machine.handle(input)
            let waits = machine.state.waits
            #expect(Set(waits.map { "\($0.rule) \($0.run ?? "")" }).count == waits.count)
            #expect(Set(waits.map(\.id)).count == waits.count)
            for wait in waits where !before.state.waits.contains(where: { $0.id == wait.id }) {
                let begun = effects.contains { if case .expectAnswer(wait.id, _) = $0 { true } else { false } }
                #expect(begun)
            }
            let runs = Set(machine.state.runs.map(\.id))
            #expect(waits.allSatisfy { $0.run.map(runs.contains) ?? true })
            for instance in effects.dismissals { #expect(dismissed.insert(instance).inserted) }
            let gone = Set(before.state.open.map(\.id)).subtracting(machine.state.open.map(\.id))
            #expect(gone.isSubset(of: effects.dismissals))
            if machine.state == before.state { #expect(machine == before) }
            if input.type == "command.BackCompleted", let instance = input.data["instance"]?.stringValue,
                before.snapshot.withoutBack.contains(instance)
            {
                #expect(machine.state.isOpen(instance))
            }
            if let history = machine.state.tabHistory {
                #expect(Set(history).count == history.count)
                #expect(!history.contains(machine.state.root.container?.selectedTab ?? ""))
            }
        }
    }

    @Test("The random histories contain each of the listed situations")
    func coverage() throws {
        var reached = Set<String>()
        for seed in 0..<20 as Range<UInt64> {
            var machine = Machine(flow: try Self.flow())
            let next = Self.messages(seed: seed)
            for _ in 0..<Self.steps {
                let before = machine.state
                let effects = machine.handle(next(before))
                let over = Set(machine.state.waits.filter { $0.isOver == true }.map(\.id))
                if before.waits.contains(where: { $0.isOver == nil && over.contains($0.id) }) { reached.insert("over") }
                if before.waits.contains(where: { wait in !machine.state.waits.contains { $0.id == wait.id } }) {
                    reached.insert("ended")
                }
                if machine.state.waits.contains(where: { $0.run != nil }) { reached.insert("in a run") }
                if effects.sent.contains("command.Left") { reached.insert("act") }
                if effects.discards.contains(where: { $0.contains("cannot go back") }) { reached.insert("locked") }
                if machine.state.tabHistory?.isEmpty == false { reached.insert("history") }
            }
        }
        #expect(reached == ["over", "ended", "in a run", "act", "locked", "history"])
    }

    @Test("A report that arrives twice in a row counts once", arguments: 0..<20)
    func duplicates(seed: Int) throws {
        var machine = Machine(flow: try Self.flow())
        let next = Self.messages(seed: UInt64(seed))
        for _ in 0..<Self.steps {
            let input = next(machine.state)
            _ = machine.handle(input)
            let isAction = ["command.NavigationRequested", "command.Push"].contains(input.type)
            guard input.type.hasPrefix("command.") || input.type == Machine.deadlinePassed, !isAction else { continue }
            let once = machine
            _ = machine.handle(input)
            #expect(machine == once, "\(input)")
        }
    }

    @Test("Equal histories give equal snapshots, also through restarts", arguments: 0..<20)
    func restarts(seed: Int) throws {
        let next = Self.messages(seed: UInt64(seed))
        try expectNoDifference(throughRestartsOf: try Self.flow(), steps: Self.steps) { next($0) }
    }
}
