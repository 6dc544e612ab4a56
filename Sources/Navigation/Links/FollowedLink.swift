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
        target.root.map { $0.fits(state.root.container) && keeps(state.root.instance, as: $0.destination) } ?? true
    }

    /// How many screens of the path stay.
    func keptPath(of state: NavigationState) -> Int {
        guard keepsRoot(of: state) else { return 0 }
        return zip(target.path, state.path).prefix { keeps($1, as: $0) }.count
    }

    /// How many presentations stay. They lie over all the rest, so they go when any of it does.
    func keptPresentations(of state: NavigationState) -> Int {
        guard let present = target.present, let presentation = state.presentations.first,
            presentation.style == present.style, keeps(presentation.instance, as: present.destination),
            keepsRoot(of: state), target.keepsTab(of: state), target.path.count == state.path.count,
            keptPath(of: state) == state.path.count, keepsColumns(of: state)
        else { return 0 }
        return 1
    }

    private func keepsColumns(of state: NavigationState) -> Bool {
        Set(state.columns.keys) == Set(target.columns.keys)
            && target.columns.allSatisfy { column, destination in
                state.columns[column].map { keeps($0, as: destination) } ?? false
            }
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
