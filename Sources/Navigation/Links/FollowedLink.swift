/// A deep link with the values of one URL, about to be followed: what of a state stays, and what is in its way.
///
/// As much as possible stays, from the bottom up. A screen that differs in what the path of the URL says is another
/// one. One that differs in what the query says is the same, with other arguments.
struct FollowedLink {
    let link: Flow.Link
    let values: [String: String]

    var target: Flow.Link.Target { link.to }

    /// Whether this instance stays where `destination` is wanted.
    func keeps(_ instance: ScreenInstance, as destination: Flow.Destination) -> Bool {
        guard let own = destination.values(of: instance) else { return false }
        let identifying = destination.places.subtracting(link.pattern?.optional ?? [])
        return identifying.allSatisfy { own[$0] == values[$0] }
    }

    /// The instance as it stays, with the arguments that differ.
    func updated(_ instance: ScreenInstance, as destination: Flow.Destination) -> ScreenInstance {
        guard destination.values(of: instance) != values.filter({ destination.places.contains($0.key) }) else {
            return instance
        }
        var updated = instance
        updated.arguments = destination.arguments(from: values)
        return updated
    }

    func keepsRoot(of state: NavigationState) -> Bool {
        guard let root = target.root else { return true }
        guard root.fits(state.root.container), keeps(state.root.instance, as: root.destination) else { return false }
        guard let tab = target.tab, let first = target.first else { return true }
        return state.base(of: .tab(tab)).map { keeps($0, as: first) } ?? false
    }

    /// How many screens of a path stay, from the bottom up.
    func kept(_ path: [ScreenInstance], as wanted: [Flow.Destination]) -> Int {
        zip(wanted, path).prefix { keeps($1, as: $0) }.count
    }

    private func keepsAll(_ path: [ScreenInstance], as wanted: [Flow.Destination]) -> Bool {
        path.count == wanted.count && kept(path, as: wanted) == path.count
    }

    /// How many presentations stay. They lie over all the rest, so they go when any of it does.
    func keptPresentations(of state: NavigationState) -> Int {
        guard let present = target.present, let presentation = state.presentations.first,
            presentation.style == present.style, keeps(presentation.instance, as: present.destination),
            keepsRoot(of: state), target.keepsTab(of: state), keepsColumns(of: state),
            keepsAll(state[state.bottomPlace], as: target.path)
        else { return 0 }
        return 1
    }

    private func keepsColumns(of state: NavigationState) -> Bool {
        let standing = state.columns
        return Set(standing.keys) == Set(target.columns.keys)
            && target.columns.allSatisfy { keepsAll(standing[$0]?.instances ?? [], as: $1.screens) }
    }

    /// What happens to the presentations in its way, the most hesitant of it.
    func precedence(in state: NavigationState) -> Flow.Precedence {
        let precedences = state.presentations.dropFirst(keptPresentations(of: state)).map {
            link.precedence(over: $0.style)
        }
        if precedences.contains(.refuse) { return .refuse }
        return precedences.contains(.wait) ? .wait : .dismiss
    }
}
