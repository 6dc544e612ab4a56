import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@Suite("Steps between two states")
struct StepsTests {
    /// The steps from the state after `event.Go` to the state after `event.Next`.
    private func steps(_ actions: Flow.Action..., after former: [Flow.Action]) throws -> [NavigationStep] {
        let flow = try Flow("letters", version: 1, platform: "ios", start: "a") {
            for name in ["a", "b", "c", "d", "e"] { Flow.Screen(name) }
            Flow.Transition(on: "event.Go", do: former)
            Flow.Transition(on: "event.Next", do: actions)
        }
        var session = Session(flow)
        #expect(session.send("event.Go").failureCodes.isEmpty)
        let before = session.state
        #expect(session.send("event.Next").failureCodes.isEmpty)
        return session.state.steps(from: before)
    }

    private func instance(_ id: String) -> ScreenInstance {
        ScreenInstance(screen: String(id.prefix(1)), id: id)
    }

    @Test("Each action is one step")
    func single() throws {
        #expect(
            try steps(.setRoot("b"), after: [.push("c"), .present("d", as: .sheet)]) == [
                .setRoot(RootScreen(instance("b-4")))
            ])
        #expect(try steps(.push("c"), after: [.push("b")]) == [.push([instance("c-3")], on: .root)])
        #expect(try steps(.pop, after: [.push("b")]) == [.pop(count: 1, from: .root)])
        #expect(try steps(.popToRoot, after: [.push("b"), .push("c")]) == [.pop(count: 2, from: .root)])
        #expect(
            try steps(.replacePath(["b", "c"]), after: [.pushed]) == [
                .replace(count: 1, with: [instance("b-3"), instance("c-4")], on: .root)
            ])
        #expect(
            try steps(.present("b", as: .popover), after: [.pushed]) == [
                .present(Presentation(.popover, instance("b-3")))
            ])
        #expect(
            try steps(
                .dismissAll,
                after: [.present("b", as: .sheet), .push("c"), .present("d", as: .alert, options: .question)]) == [
                    .dismiss(instance: "b-2")
                ])
        #expect(
            try steps(.dismiss(nil), after: [.present("b", as: .sheet), .present("d", as: .sheet)]) == [
                .dismiss(instance: "d-3")
            ])
        #expect(
            try steps(.push("c"), after: [.present("b", as: .sheet)]) == [
                .push([instance("c-3")], on: .presentation(instance: "b-2"))
            ])
        #expect(
            try steps(.show("c", column: "x"), after: [.setRoot("b", container: .split)]) == [
                .show(ScreenStack(instance("c-3")), column: "x")
            ])
    }

    @Test("Equal states have no step between them, and an action and its undo none")
    func none() throws {
        #expect(try steps(.push("b"), .pop, after: [.pushed]) == [])
        let session = try Session.showingPlaylist(on: "ios")
        #expect(session.state.steps(from: session.state) == [])
        var without = session
        without.report("ScreenGone", "launch-1")
        #expect(without.state != session.state)
        #expect(without.state.steps(from: session.state) == [])
    }

    @Test("Dismissals come first, and presentations last")
    func order() throws {
        let steps = try steps(
            .dismissAll, .pop, .push("d"), .present("e", as: .fullScreen),
            after: [.push("b"), .present("c", as: .sheet)])
        #expect(
            steps == [
                .dismiss(instance: "c-3"), .replace(count: 1, with: [instance("d-4")], on: .root),
                .present(Presentation(.fullScreen, instance("e-5"))),
            ])
    }

    @Test("Screens that are pushed on a new presentation are part of its step")
    func presentedStack() throws {
        let steps = try steps(.present("b", as: .sheet), .push("c"), .present("d", as: .sheet), after: [.pushed])
        #expect(
            steps == [
                .present(Presentation(.sheet, instance("b-3"), path: [instance("c-4")])),
                .present(Presentation(.sheet, instance("d-5"))),
            ])
    }

    /// A state with two tabs, each with its first screen, `x-1` and `y-2`.
    private var tabbed: NavigationState {
        let tabs = ["x-1", "y-2"].map { Container.Tab(String($0.prefix(1)), ScreenStack(instance($0))) }
        return NavigationState(root: RootScreen(instance("a-1"), container: .tabs(tabs, selected: "x")))
    }

    @Test("The selection of a tab keeps its stack, and a root with other tabs is a new root")
    func tabs() throws {
        let former = tabbed
        var state = former
        try state.root.container = #require(former.root.container).selecting("y")
        #expect(state.steps(from: former) == [.selectTab("y")])
        state = state.pushed([instance("b-3")], onTab: "y")
        #expect(state.steps(from: former) == [.selectTab("y"), .push([instance("b-3")], on: .tab("y"))])
        #expect(former.steps(from: state) == [.selectTab("x"), .pop(count: 1, from: .tab("y"))])
        let beneath = former.pushed([instance("b-3")], onTab: "y")
        #expect(beneath.steps(from: former) == [.push([instance("b-3")], on: .tab("y"))])
        state.root.container = .tabs([Container.Tab("x", ScreenStack(instance("c-4")))], selected: "x")
        #expect(state.steps(from: former) == [.setRoot(state.root)])
    }

    @Test("A column has its own path, and is filled or emptied in one step")
    func columns() {
        func split(_ columns: [String: ScreenStack]) -> NavigationState {
            NavigationState(root: RootScreen(instance("a-1"), container: .split(columns: columns)))
        }
        let former = split(["x": ScreenStack(instance("b-2"), path: [instance("c-3")])])
        #expect(split([:]).steps(from: former) == [.show(nil, column: "x")])
        let deeper = split(["x": ScreenStack(instance("b-2"), path: [instance("c-3"), instance("d-4")])])
        #expect(deeper.steps(from: former) == [.push([instance("d-4")], on: .column("x"))])
        #expect(former.steps(from: deeper) == [.pop(count: 1, from: .column("x"))])
        let other = ScreenStack(instance("e-5"), path: [instance("d-4")])
        #expect(split(["x": other]).steps(from: former) == [.show(other, column: "x")])
        let updated = ScreenInstance(screen: "c", id: "c-3", arguments: ["theme": "dark"])
        let restyled = split(["x": ScreenStack(instance("b-2"), path: [updated])])
        #expect(restyled.steps(from: former) == [.update(updated)])
    }

    @Test("The steps between two states lead from one to the other", arguments: 0..<20)
    func anyTwo(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let former = randomState(&random)
            let state = Bool.random(using: &random) ? randomState(&random) : changed(former, &random)
            var applied = former
            let steps = state.steps(from: former)
            for step in steps { applied.apply(step) }
            #expect(applied == state)
            #expect(steps.isEmpty == (former == state))
        }
    }

    @Test("A view that applies the steps of a history shows the machine's state", arguments: HistoryTests.histories)
    func history(platform: String, seed: UInt64) throws {
        var machine = Machine(flow: try ShippedFlows.flow(platform))
        var history = History(seed: seed)
        var shown = machine.state
        for _ in 0..<150 {
            let before = machine.state
            _ = machine.handle(history.next(for: machine.state))
            let steps = machine.state.steps(from: shown)
            for step in steps { shown.apply(step) }
            #expect(shown.root == machine.state.root)
            #expect(shown.path == machine.state.path)
            #expect(shown.presentations == machine.state.presentations)
            if machine.state.open == before.open { #expect(steps.isEmpty) }
        }
    }

    /// A random state. Its instances are chosen from twelve, so that two states can have some of them in common. No
    /// state has an instance twice.
    private func randomState(_ random: inout SeededGenerator) -> NavigationState {
        var pool = (1...12).map { number in
            ScreenInstance(
                screen: "a", id: "a-\(number)",
                arguments: Int.random(in: 0..<4, using: &random) == 0 ? ["theme": "dark"] : [:])
        }
        if Bool.random(using: &random) { pool.shuffle(using: &random) }
        func draw(_ most: Int) -> [ScreenInstance] {
            let count = Int.random(in: 0...most, using: &random)
            defer { pool.removeFirst(min(count, pool.count)) }
            return Array(pool.prefix(count))
        }
        var state = NavigationState(root: RootScreen(pool.removeFirst()))
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            let tabs = ["x", "y"].map { Container.Tab($0, ScreenStack(pool.removeFirst(), path: draw(1))) }
            state.root.container = .tabs(tabs, selected: Bool.random(using: &random) ? "x" : "y")
        case 1:
            let columns = Dictionary(zip(["x", "y"], draw(2))) { first, _ in first }
            state.root.container = .split(columns: columns.mapValues { ScreenStack($0, path: draw(1)) })
            state.path = draw(2)
        default: state.path = draw(3)
        }
        for instance in draw(2) {
            let style = [PresentationStyle.sheet, .fullScreen, .window].randomElement(using: &random) ?? .sheet
            state.presentations.append(Presentation(style, instance, path: draw(2)))
        }
        return state
    }

    /// The state after a random change, which may have no effect.
    private func changed(_ state: NavigationState, _ random: inout SeededGenerator) -> NavigationState {
        var state = state
        let new = ScreenInstance(screen: "b", id: "b-1")
        switch Int.random(in: 0..<7, using: &random) {
        case 0: state.path.append(new)
        case 1: state.path = state.path.dropLast()
        case 2: state.presentations.append(Presentation(.popover, new))
        case 3: state.presentations = state.presentations.dropLast()
        case 4: state.root.instance.arguments["theme"] = "light"
        case 5:
            if case .tabs(let tabs, _) = state.root.container {
                state.root.container = state.root.container?.selecting("y")
                return state.pushed([new], onTab: tabs[0].name)
            }
            if case .split(var columns) = state.root.container {
                columns["y"] = ScreenStack(new, path: columns["y"]?.instances ?? [])
                state.root.container = .split(columns: columns)
            }
        default:
            state.presentations = state.presentations.map { Presentation($0.style, $0.instance, path: [new]) }.suffix(1)
        }
        return state
    }
}

extension Flow.Action {
    /// Pushes a screen, so that the path is not empty.
    fileprivate static let pushed = Flow.Action.push("e")
}

extension NavigationState {
    fileprivate func pushed(_ instances: [ScreenInstance], onTab name: String) -> NavigationState {
        guard case .tabs(var tabs, let selected) = root.container else { return self }
        for index in tabs.indices where tabs[index].name == name { tabs[index].stack.path += instances }
        var state = self
        state.root.container = .tabs(tabs, selected: selected)
        return state
    }
}

extension Container {
    fileprivate func selecting(_ name: String) -> Container {
        if case .tabs(let tabs, _) = self { .tabs(tabs, selected: name) } else { self }
    }
}

extension PresentationOptions {
    fileprivate static let question = PresentationOptions(title: "Sure?", buttons: [AlertButton(id: "ok", title: "OK")])
}
