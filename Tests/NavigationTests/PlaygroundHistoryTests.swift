import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@Suite("Random histories with every container and presentation")
struct PlaygroundHistoryTests {
    private static let steps = 150

    @Test("Every state can be shown, and every instance is dismissed once", arguments: 0..<40 as Range<UInt64>)
    func invariants(seed: UInt64) throws {
        var machine = Machine(flow: try PlaygroundFlow.flow())
        var history = History(seed: seed, vocabulary: .playground)
        var dismissed = Set<String>()
        for _ in 0..<Self.steps {
            let before = machine
            let input = history.next(for: machine.state)
            let effects = machine.handle(input)
            expectShowable(machine.state)
            // Each state is published once.
            for passed in effects.passed { expectShowable(passed.state) }
            let seen = effects.passed.map(\.revision) + (machine.revision == before.revision ? [] : [machine.revision])
            #expect(seen == Array((before.revision..<machine.revision).map { $0 + 1 }))
            let gone = Set(before.state.open.map(\.id)).subtracting(machine.state.open.map(\.id))
            #expect(gone.isSubset(of: effects.dismissals))
            for instance in effects.dismissals { #expect(dismissed.insert(instance).inserted) }
            for leaving in machine.state.leaving { #expect(dismissed.contains(leaving.id)) }
            if machine.state == before.state { #expect(machine == before) }
            if input.type == "command.PresentationDismissed" {
                let kept = before.state.presentations.filter { !$0.isInteractivelyDismissable }.map(\.instance.id)
                let reported = input.data["instance"]?.stringValue ?? ""
                if kept.contains(reported) { #expect(machine.state.presentations == before.state.presentations) }
            }
            // The next message of any type may also discard an expired link and messages that an attempt has queued.
            let isRefused = !effects.discards.isEmpty && Set(effects.discarded) == [input.id]
            if isRefused { #expect(machine == before) }
            // A failing rule on the end of a child flow does not undo the view's report that ended it, so only
            // `event.Go` is checked.
            let isAlone = before.state.attempt == nil && before.state.parked == nil
            if !effects.failureCodes.isEmpty, input.type == "event.Go", isAlone { #expect(machine == before) }
        }
    }

    @Test(
        "A link is followed, parked or discarded, and the state that it leads to has its URL",
        arguments: 0..<40 as Range<UInt64>)
    func links(seed: UInt64) throws {
        var machine = Machine(flow: try PlaygroundFlow.flow())
        var history = History(seed: seed, vocabulary: .playground)
        for _ in 0..<Self.steps {
            let before = machine.state
            let input = history.next(for: before)
            let effects = machine.handle(input)
            if let url = machine.snapshot.url {
                var probe = machine
                let link = Machine.Input(id: "probe", type: Machine.deepLinkReceived, data: ["url": .string(url)])
                #expect(probe.handle(link).dismissals.isEmpty)
                #expect(probe.state.open == machine.state.open)
            }
            guard input.type == Machine.deepLinkReceived, input.attributes.platform != "ios",
                !effects.discarded.contains(input.id), machine.state.parked?.messageID != input.id
            else { continue }
            // Queued messages may change the state at once.
            guard before.attempt == nil else { continue }
            #expect(machine.snapshot.url == input.data["url"]?.stringValue)
        }
    }

    @Test("A view that applies the steps shows the machine's state", arguments: 0..<40 as Range<UInt64>)
    func steps(seed: UInt64) throws {
        var machine = Machine(flow: try PlaygroundFlow.flow())
        var history = History(seed: seed, vocabulary: .playground)
        var shown = machine.state
        for _ in 0..<Self.steps {
            _ = machine.handle(history.next(for: machine.state))
            for step in machine.state.steps(from: shown) { shown.apply(step) }
            #expect(shown.root == machine.state.root)
            #expect(shown.path == machine.state.path)
            #expect(shown.presentations == machine.state.presentations)
        }
    }

    private func expectShowable(_ state: NavigationState) {
        for (question, over) in zip(state.presentations, state.presentations.dropFirst()) {
            #expect(!question.style.isQuestion || over.style == .window, "nothing lies over it")
        }
        for question in state.presentations where question.style.isQuestion { #expect(question.path.isEmpty) }
        let instances = (state.open + state.leaving).map(\.id)
        #expect(Set(instances).count == instances.count)
        #expect(state.isOpen(state.top.id))
        #expect(Set(state.active).isSubset(of: state.shown) && Set(state.shown).isSubset(of: state.open))
        let runs = Set(state.runs.map(\.id))
        #expect(runs.count == state.runs.count)
        for run in state.runs {
            #expect(state.open.contains { $0.id == run.first && $0.run == run.id })
            #expect(run.parent.map(runs.contains) ?? true)
        }
        for instance in state.open { #expect(instance.run.map(runs.contains) ?? true, "\(instance)") }
        #expect(state.root.instance.run == nil)
        if let attempt = state.attempt {
            #expect(state.isOpen(attempt.instance))
            #expect(attempt.run.map(runs.contains) ?? true)
        }
        if case .tabs(let tabs, let selected) = state.root.container {
            #expect(tabs.contains { $0.name == selected })
            #expect(state.path.isEmpty, "tabs are never covered")
        }
    }

    @Test("The random histories contain each of the listed situations")
    func coverage() throws {
        var reached = Set<String>()
        for seed in 0..<80 as Range<UInt64> {
            var machine = Machine(flow: try PlaygroundFlow.flow())
            var history = History(seed: seed, vocabulary: .playground)
            for _ in 0..<Self.steps {
                let before = machine.state
                let input = history.next(for: before)
                let effects = machine.handle(input)
                let state = machine.state
                let isParkedFollowed =
                    before.parked != nil && state.parked == nil
                    && !effects.discarded.contains(before.parked?.messageID ?? "")
                if isParkedFollowed { reached.insert("parked link followed") }
                if isParkedFollowed, before.runs != state.runs { reached.insert("parked link over a run") }
                if input.type == Machine.deepLinkReceived, before.attempt != nil, state.attempt == nil {
                    reached.insert("link over an attempt")
                }
                if let run = before.attempt?.run, input.type == "event.Answered",
                    !state.runs.contains(where: { $0.id == run })
                {
                    reached.insert("run ended by an answer")
                }
                if state.attempt?.queue.isEmpty == false { reached.insert("queue") }
                let isDeep = state.root.container?.stacks.contains { $0.path.count > 1 } == true
                if isDeep { reached.insert(state.root.container?.selectedTab == nil ? "column" : "tab") }
                if state.presentations.count > 1 { reached.insert("nested") }
                if state.presentations.contains(where: { $0.path.count > 1 }) { reached.insert("presented path") }
                if state.path.count > 2 { reached.insert("path") }
                if state.runs.contains(where: { $0.parent != nil }) { reached.insert("nested run") }
                if Set(state.runs.map(\.flow)).count < state.runs.count { reached.insert("runs of one flow") }
                if case .split(let columns) = state.root.container, columns.contains(where: { $1.top.run != nil }) {
                    reached.insert("run in a column")
                }
            }
        }
        #expect(
            reached == [
                "column", "tab", "nested", "presented path", "path", "nested run", "runs of one flow",
                "run in a column", "parked link followed", "parked link over a run", "link over an attempt",
                "run ended by an answer", "queue",
            ])
    }

    @Test("A report that arrives twice in a row counts once", arguments: 0..<40 as Range<UInt64>)
    func duplicates(seed: UInt64) throws {
        var machine = Machine(flow: try PlaygroundFlow.flow())
        var history = History(seed: seed, vocabulary: .playground)
        for _ in 0..<Self.steps {
            let input = history.next(for: machine.state)
            _ = machine.handle(input)
            let isAction = ["command.NavigationRequested", "command.Push"].contains(input.type)
            guard input.type.hasPrefix("command."), !isAction else { continue }
            let once = machine
            _ = machine.handle(input)
            #expect(machine == once, "\(input)")
        }
    }

    @Test("Equal histories give equal snapshots, also through restarts", arguments: 0..<40 as Range<UInt64>)
    func restarts(seed: UInt64) throws {
        var history = History(seed: seed, vocabulary: .playground)
        try expectNoDifference(throughRestartsOf: try PlaygroundFlow.flow(), steps: Self.steps) {
            history.next(for: $0)
        }
    }

    @Test("A state that is restored with a flow without some screens can be shown", arguments: 0..<40 as Range<UInt64>)
    func salvages(seed: UInt64) throws {
        var machine = Machine(flow: try PlaygroundFlow.flow())
        var history = History(seed: seed, vocabulary: .playground)
        var random = SeededGenerator(seed: seed)
        for step in 0..<Self.steps {
            _ = machine.handle(history.next(for: machine.state))
            guard step.isMultiple(of: 5) else { continue }
            let lost = ["b", "c", "d", "e"].randomElement(using: &random)
            let flow = try Flow("playground", version: 2, platform: "playground", start: "a") {
                for name in ["a", "b", "c", "d", "e"] where name != lost { Flow.Screen(name) }
                if Bool.random(using: &random) { Flow.Child("wizard", start: "a", transitions: []) }
                if Bool.random(using: &random) { Flow.Child("nested", start: "a", transitions: []) }
            }
            let restoration = Restoration(machine.snapshot, flow: flow)
            expectShowable(restoration.machine.state)
            #expect(!restoration.machine.state.open.contains { $0.screen == lost })
            #expect(restoration.machine.state.parked == nil && restoration.machine.state.attempt == nil)
            let isSame = restoration.machine.state == machine.state
            #expect(restoration.machine.revision == machine.revision + (isSame ? 0 : 1))
            let lostOnes = machine.state.open.filter { $0.screen == lost }
            #expect(Set(lostOnes).isSubset(of: restoration.dropped))
        }
    }
}
