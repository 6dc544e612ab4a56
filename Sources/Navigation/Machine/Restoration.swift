/// A machine that goes on where a snapshot was taken, and what of the snapshot could not be kept.
///
/// The flow may have changed since. What it no longer has is dropped, and with it all that lay above, for a screen makes
/// sense only on what it was opened from; without its root the session begins anew. A state without gaps is thus kept,
/// and dropping one screen never leads to a state that no history could have reached.
public struct Restoration: Sendable {
    /// The machine. When anything was dropped, a parked link too, its revision is one above the snapshot's.
    public let machine: Machine
    /// The instances that were dropped, from the bottom up.
    public let dropped: [ScreenInstance]
    /// What the host has to do first: tell of the dropped instances, and wait again for those that are leaving, since
    /// its timers ended with the process that took the snapshot.
    public let effects: [Machine.Effect]

    /// Restores a machine.
    ///
    /// - Parameters:
    ///   - snapshot: The last snapshot of the session.
    ///   - flow: The flow to go on with. One of another platform keeps nothing.
    public init(_ snapshot: NavigationSnapshot, flow: Flow) {
        var memory = snapshot.memory
        var state: NavigationState
        if snapshot.platform == flow.platform, let salvaged = snapshot.state.salvaged(for: flow) {
            state = salvaged
        } else {
            let root = RootScreen(memory.instantiate(flow.start))
            state = NavigationState(root: root, leaving: snapshot.state.leaving)
        }
        let parked = snapshot.state.parked
        state.parked =
            snapshot.platform == flow.platform ? parked.flatMap { flow.hasLink(for: $0.url) ? $0 : nil } : nil
        let lost = state.parked == nil ? parked : nil
        let dropped = snapshot.state.standing.filter { !state.isStanding($0.id) }
        // A view that has outlived the host still shows them.
        state.leaving += dropped.reversed()
        self.dropped = dropped
        machine = Machine(
            flow: flow,
            session: snapshot.session,
            revision: snapshot.revision + (dropped.isEmpty && lost == nil ? 0 : 1),
            state: state,
            cause: snapshot.cause,
            memory: memory
        )
        effects =
            [lost?.discarded("the flow has no such link any more")].compactMap(\.self)
            + dropped.reversed().map { .screenDismissed(instance: $0.id, screen: $0.screen) }
            + state.leaving.map { .expectScreenGone(instance: $0.id) }
    }
}

extension NavigationState {
    /// The part of the state that a flow has screens for, nil when it lacks the root's.
    fileprivate func salvaged(for flow: Flow) -> NavigationState? {
        func isKnown(_ instance: ScreenInstance) -> Bool { flow.screens[instance.screen] != nil }
        guard isKnown(root.instance) else { return nil }
        var salvaged = self
        if case .split(let columns) = root.container {
            salvaged.root.container = .split(columns: columns.filter { isKnown($0.value) })
        }
        salvaged.path = Array(path.prefix(while: isKnown))
        guard salvaged.path.count == path.count else {
            salvaged.presentations = []
            return salvaged
        }
        let cut = presentations.firstIndex { !$0.instances.allSatisfy(isKnown) } ?? presentations.endIndex
        salvaged.presentations = Array(presentations[..<cut])
        if cut < presentations.endIndex, isKnown(presentations[cut].instance) {
            var last = presentations[cut]
            last.path = Array(last.path.prefix(while: isKnown))
            salvaged.presentations.append(last)
        }
        return salvaged
    }
}
