internal import FlowReview
internal import Navigation
internal import Support

// Questions about the states that an exploration has found.
extension FlowExplorer {
    /// The first state from which only states follow in which gates of a flow are open. Nil if there is none.
    /// - Returns: The number of the state, and the gates.
    func endlessGate(of flow: Int) -> (state: Int, gates: [String])? {
        let screens = flows[flow].screens
        func gates(_ state: [ExploredMachine]) -> [String] {
            state[flow].state.open.map(\.screen).filter { screens[$0]?.gate == true }
        }
        guard screens.values.contains(where: \.gate) else { return nil }
        return firstState { gates($0).isEmpty }.map { ($0, gates(states[$0].machines)) }
    }

    /// The ways between the states, backwards.
    private struct Ways {
        /// True for a state of which not all that follows is known: anything may follow.
        let isOpen: [Bool]
        /// For each state, the states from which a way leads to it at once. Answers to other platforms are not counted.
        private(set) var predecessors: [[Int32]]

        /// - Parameter launches: True if launches count as ways that lead on.
        init(_ exits: [[Exit]?], launches: Bool) {
            isOpen = exits.map { $0 == nil }
            predecessors = Array(repeating: [], count: exits.count)
            for (state, exits) in exits.enumerated() {
                for exit in exits ?? [] where !exit.needsOthers && (launches || !exit.isLaunch) {
                    predecessors[Int(exit.state)].append(Int32(state))
                }
            }
        }
    }

    /// A screen that the user cannot leave any more.
    struct Trap {
        /// The first state from which on the screen stays.
        let state: Int
        let screen: String
        /// True if it stays in front. Otherwise screens over it come and go.
        let isInFront: Bool
        let isPresented: Bool
        /// The events that would lead on if they came once more. Empty if none would.
        let missing: [String]
    }

    /// The screens of a flow that the user cannot leave, other than by a new launch or a URL: those that stay in front, or
    /// beneath presentations that come and go, although no command that they send has an effect, and those that stay
    /// presented. Not the screen with which the app begins, nor a root whose commands services handle.
    func traps(of flow: Int) -> [Trap] {
        func front(_ machines: [ExploredMachine]) -> Set<String> { Set(machines[flow].state.active.map(\.screen)) }
        func bottom(_ machines: [ExploredMachine]) -> Set<String> {
            Set(machines[flow].state.bottom.map(\.screen))
        }
        func presented(_ machines: [ExploredMachine]) -> Set<String> {
            Set(machines[flow].state.presentations.map(\.instance.screen))
        }
        let answered = Set(
            exploration.coverages[flow].steps.filter { !$0.tells.isEmpty || $0.cause.begins(with: "command.") }
                .map(\.screen))
        let ways = Ways(similarExits, launches: false)
        var found: [Trap] = []
        let layers =
            Set(combinations.map(front)).map { (screens: $0, layer: front) }
            + Set(combinations.map(bottom)).map { (screens: $0, layer: bottom) }
        for (screens, layer) in layers where screens != [flows[flow].start] {
            let dead = deadStates(ways) { layer($0) != screens }
            guard let first = dead.first else { continue }
            let screen = screens.count == 1 ? screens.joined() : states[first].machines[flow].state.top.screen
            if answered.contains(screen) || found.contains(where: { $0.screen == screen }) { continue }
            let isPresented = presented(states[first].machines).contains(screen)
            let state = states[first].machines[flow].state
            if state.top == state.root.instance, flows[flow].screens[screen]?.sends.contains(where: isHandled) == true {
                continue
            }
            found.append(
                Trap(
                    state: first, screen: screen, isInFront: true, isPresented: isPresented,
                    missing: missing(in: first, dead)))
        }
        let known = Set(found.map(\.screen))
        let all = combinations.reduce(into: Set<String>()) { $0.formUnion(presented($1)) }
        for screen in all.subtracting(known) {
            let dead = deadStates(ways) { !presented($0).contains(screen) }
            if let first = dead.first {
                found.append(
                    Trap(
                        state: first, screen: screen, isInFront: false, isPresented: true,
                        missing: missing(in: first, dead)
                    ))
            }
        }
        return found.sorted { ($0.screen, $0.state) < ($1.screen, $1.state) }
    }

    /// True if a service handles a command.
    private func isHandled(_ command: String) -> Bool {
        catalogue.services.values.contains { $0.receives.contains(command) }
    }

    /// The events that do not come any more in a dead state: in another state of the same machines, which is not dead, they
    /// are pending.
    private func missing(in state: Int, _ dead: [Int]) -> [String] {
        let (own, dead) = (states[state], Set(dead))
        let others = states.indices.filter { number in
            let other = states[number]
            return other.combination == own.combination && other.pending.isStrictSuperset(of: own.pending)
                && !dead.contains(number)
        }
        return others.map { answers.types(in: states[$0].pending.subtracting(own.pending)) }.min { $0.count < $1.count }
            ?? []
    }

    /// The first state from which on the platforms have different roots, which all know, and one keeps its root: for
    /// example, it is logged out and the others are not. Nil if there is none.
    /// - Returns: The number of the state, the roots, and the numbers of the platforms that keep theirs.
    func disagreement() -> (state: Int, roots: [String], stuck: [Int])? {
        func roots(_ state: [ExploredMachine]) -> [String] { state.map(\.state.root.instance.screen) }
        let known = flows.indices.map { flow in Set(combinations.map { $0[flow].state.root.instance.screen }) }
        let common = known.dropFirst().reduce(known[0]) { $0.intersection($1) }
        let ways = Ways(exits, launches: false)
        let apart = deadStates(ways) { machines in
            let roots = roots(machines)
            return Set(roots).count == 1 || !common.isSuperset(of: roots)
        }
        if apart.isEmpty { return nil }
        let stuck = flows.indices.map { flow in
            Dictionary(
                uniqueKeysWithValues: common.map { root in
                    (root, Set(deadStates(ways) { $0[flow].state.root.instance.screen != root }))
                })
        }
        for state in apart {
            let roots = roots(states[state].machines)
            let own = flows.indices.filter { stuck[$0][roots[$0]]?.contains(state) == true }
            if !own.isEmpty { return (state, roots, own) }
        }
        return nil
    }

    /// True if a property of a flow is about some state.
    func isMeant(_ property: Flow.Property, in flow: Int) -> Bool {
        combinations.contains { property.concerns($0[flow].state) }
    }

    /// The first state for which a property of a flow does not hold. Nil if there is none.
    func violation(of property: Flow.Property, in flow: Int) -> Int? {
        func first(where isWrong: (NavigationState) -> Bool) -> Int? {
            states.indices.first {
                let state = states[$0].machines[flow].state
                return property.concerns(state) && isWrong(state)
            }
        }
        return switch property.kind {
        case .always: first { !property.holds(in: $0) }
        case .never: first { property.holds(in: $0) }
        case .canReach:
            firstState {
                property.concerns($0[flow].state)
            } neverReaching: {
                property.holds(in: $0[flow].state)
            }
        }
    }

    /// The first state that fulfils a condition, and from which no state follows that fulfils another one. Nil if there
    /// is none.
    /// - Parameter launches: True if launches count as ways that lead on.
    private func firstState(
        where isMeant: ([ExploredMachine]) -> Bool = { _ in true }, launches: Bool = true,
        neverReaching goal: ([ExploredMachine]) -> Bool
    ) -> Int? {
        deadStates(Ways(exits, launches: launches), neverReaching: goal).first { isMeant(states[$0].machines) }
    }

    /// The states from which no state follows that fulfils a condition, in the order in which they were found.
    private func deadStates(
        _ ways: Ways, neverReaching goal: ([ExploredMachine]) -> Bool
    ) -> [Int] {
        let goals = combinations.map(goal)
        var waiting = states.indices.filter { ways.isOpen[$0] || goals[states[$0].combination] }
        var reaches = [Bool](repeating: false, count: states.count)
        for state in waiting { reaches[state] = true }
        while let state = waiting.popLast() {
            for former in ways.predecessors[state].map(Int.init) where !reaches[former] {
                reaches[former] = true
                waiting.append(former)
            }
        }
        return states.indices.filter { !reaches[$0] }
    }

    /// The shortest story that leads to a state, as one of the flows sees it.
    package func story(to state: Int, in flow: Int) -> Story {
        var origins: [Exploration.Origin] = []
        var state = state
        while state > 0 {
            origins.append(self.origins[state])
            state = self.origins[state].state
        }
        return story(of: origins.reversed(), in: flow)
    }

    /// The shortest story that ends with something that happened in a state, as one of the flows sees it.
    package func story(of origin: Exploration.Origin, in flow: Int) -> Story {
        var origins = [origin]
        while let first = origins.first?.state, first > 0 { origins.insert(self.origins[first], at: 0) }
        return story(of: origins, in: flow)
    }

    private func story(of origins: [Exploration.Origin], in flow: Int) -> Story {
        var writer = StoryWriter(flows[flow])
        for origin in origins {
            let former = states[origin.state].machines
            let occurrence = occurrences(in: former)[origin.occurrence]
            var machines = zip(flows, former).map { Machine(exploring: $1, flow: $0) }
            let inputs = handle(occurrence, &machines)
            writer.add(occurrence, sending: inputs.dropFirst())
            writer.check(machines[flow])
        }
        return writer.story
    }
}
