internal import Support

/// A machine that was restored from a snapshot, and the instances that could not be kept.
///
/// The flow may have changed since the snapshot. Screens and child flows that the flow no longer has are dropped
/// together with the screens that were opened on them. If the root or all of its tabs are dropped, the session begins
/// again at the start screen.
public struct Restoration: Sendable {
    /// The machine. Its revision is greater than the snapshot's if its state differs from the snapshot's.
    public let machine: Machine
    /// The dropped instances, from the bottom up.
    public let dropped: [ScreenInstance]
    /// The effects that the host has to carry out first. They report dropped instances, links and attempts, and start
    /// the timers for leaving instances, for attempts and for waits again. Effects of queued messages follow.
    public let effects: [Machine.Effect]

    /// Restores a machine.
    ///
    /// - Parameters:
    ///   - snapshot: The last snapshot of the session.
    ///   - flow: The flow to continue with. If it is for another platform, all instances are dropped.
    public init(_ snapshot: NavigationSnapshot, flow: Flow) {
        var memory = snapshot.memory
        var state: NavigationState
        if snapshot.platform == flow.platform, let salvaged = snapshot.state.salvaged(for: flow) {
            state = salvaged
            // All sessions share the names of the flow's screens, instead of keeping the text of each snapshot.
            state.updateOpen { instance in
                if let index = flow.screens.index(forKey: instance.screen) {
                    instance.screen = flow.screens.keys[index]
                }
            }
        } else {
            let root = RootScreen(memory.instantiate(flow.start))
            state = NavigationState(root: root, leaving: snapshot.state.leaving)
        }
        let parked = snapshot.state.parked
        state.parked =
            snapshot.platform == flow.platform ? parked.flatMap { flow.hasLink(for: $0.url) ? $0 : nil } : nil
        let lost = state.parked == nil ? parked : nil
        let dropped = snapshot.state.open.filter { !state.isOpen($0.id) }
        // A view that was not restarted may still show the dropped instances.
        state.leaving += dropped.reversed()
        self.dropped = dropped
        state.waits = snapshot.state.waits.filter { flow.holds($0, in: state) }
        state.attempts = snapshot.state.attempts
        let attempts = AttemptSalvage(of: state, from: snapshot.state, memory: memory, flow: flow)
        let isUnchanged = attempts.state == snapshot.state
        var machine = Machine(
            flow: flow,
            session: snapshot.session,
            revision: snapshot.revision + (isUnchanged ? 0 : 1),
            state: attempts.state,
            cause: snapshot.cause,
            // In a changed flow, the same place can be another rule.
            rule: isUnchanged && snapshot.flow == flow.identity ? snapshot.rule : nil,
            memory: attempts.memory
        )
        effects =
            [lost?.discarded("the flow no longer has a link for this URL")].compactMap(\.self)
            + dropped.reversed().map { .screenDismissed(instance: $0.id, screen: $0.screen) }
            + state.leaving.map { .expectScreenGone(instance: $0.id) }
            + attempts.effects
            + attempts.state.waits.filter { $0.isOver != true }
            .compactMap { wait in
                flow.rule(of: wait, in: attempts.state)?.transition.after.map {
                    .expectAnswer(attempt: wait.id, within: $0)
                }
            }
            + machine.process(released: attempts.released, published: snapshot.revision)
        self.machine = machine
    }
}

extension NavigationState {
    /// The part of the state whose screens and child flows the flow still has. Nil if the root cannot be kept.
    fileprivate func salvaged(for flow: Flow) -> NavigationState? {
        var salvaged = self
        salvaged.runs = runs.filter { flow.flows[$0.flow] != nil }
        while true {
            // Screens are dropped together with their run, and a run is dropped together with its first screen.
            let living = salvaged.runs
            guard let kept = salvaged.salvaged(screens: flow.screens, runs: Set(living.map(\.id))) else { return nil }
            salvaged = kept
            salvaged.runs = living.filter { run in
                kept.isOpen(run.first) && (run.parent == nil || living.contains { $0.id == run.parent })
            }
            if salvaged.runs == living { return salvaged }
        }
    }

    private func salvaged(screens: [String: Flow.Screen], runs: Set<String>) -> NavigationState? {
        func isKnown(_ instance: ScreenInstance) -> Bool {
            screens[instance.screen] != nil && (instance.run.map(runs.contains) ?? true)
        }
        guard isKnown(root.instance) else { return nil }
        var salvaged = self
        if let container = root.container {
            guard let kept = container.salvaged(isKnown) else { return nil }
            salvaged.root.container = kept
            salvaged.keepTabHistory()
        }
        salvaged.path = Array(path.prefix(while: isKnown))
        // Presentations in the main window lie over the whole bottom path. If a part of it is dropped, all of them are.
        let isWhole = salvaged.bottomScope == bottomScope && salvaged[bottomScope] == self[bottomScope]
        salvaged.presentations = []
        var index = 0
        while index < presentations.endIndex {
            let window = presentations(around: index)
            if isWhole || presentations[index].style == .window {
                salvaged.presentations += Self.salvaged(presentations[window], isKnown)
            }
            index = window.upperBound
        }
        return salvaged
    }

    /// The presentations of one window up to the first unknown screen.
    private static func salvaged(
        _ presentations: ArraySlice<Presentation>, _ isKnown: (ScreenInstance) -> Bool
    ) -> [Presentation] {
        let cut = presentations.firstIndex { !$0.instances.allSatisfy(isKnown) } ?? presentations.endIndex
        var salvaged = Array(presentations[..<cut])
        if cut < presentations.endIndex, isKnown(presentations[cut].instance) {
            var last = presentations[cut]
            last.path = Array(last.path.prefix(while: isKnown))
            salvaged.append(last)
        }
        return salvaged
    }
}

extension Container {
    /// The stacks whose first screen is known, each up to its first unknown screen. Nil if no tab is left.
    fileprivate func salvaged(_ isKnown: (ScreenInstance) -> Bool) -> Container? {
        func salvaged(_ stack: ScreenStack) -> ScreenStack? {
            isKnown(stack.instance)
                ? ScreenStack(stack.instance, path: Array(stack.path.prefix(while: isKnown))) : nil
        }
        switch self {
        case .split(let columns): return .split(columns: columns.compactMapValues(salvaged))
        case .tabs(let tabs, let selected):
            let kept = tabs.compactMap { tab in salvaged(tab.stack).map { Tab(tab.name, $0) } }
            guard let first = kept.first else { return nil }
            return .tabs(kept, selected: kept.contains { $0.name == selected } ? selected : first.name)
        }
    }
}

/// The treatment of attempts when a machine is restored.
///
/// An attempt continues to wait if its screen is open, the run of its rule is kept and the flow still has the rule.
/// Otherwise it is discarded with `event.MessageDiscarded`, and the machine handles the queued messages.
struct AttemptSalvage {
    let state: NavigationState
    let memory: NavigationMemory
    let effects: [Machine.Effect]
    let released: [Machine.Input]

    init(of salvaged: NavigationState, from stored: NavigationState, memory: NavigationMemory, flow: Flow) {
        guard let first = stored.attempts.first else {
            (state, self.memory, effects, released) = (salvaged, memory, [], [])
            return
        }
        var step = StateTransaction(flow: flow, input: first.message, before: stored, memory: memory)
        step.state = salvaged
        for attempt in stored.attempts where flow.rule(of: attempt, in: salvaged) == nil {
            step.end(attempt)
            step.effects.append(
                attempt.message.discarded("the flow no longer has the rule that waited for an answer"))
        }
        released = step.settleAttempts()
        step.effects += step.state.attempts.map {
            .expectAnswer(attempt: $0.id, within: .milliseconds($0.deadline))
        }
        var memory = memory
        memory.record(step.entries, instances: step.instances)
        (state, self.memory, effects) = (step.state, memory, step.effects)
    }
}
