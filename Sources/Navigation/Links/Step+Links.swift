extension Step {
    /// Discards the parked link, visibly.
    mutating func unpark(_ reason: String) {
        guard let parked = state.parked else { return }
        state.parked = nil
        effects.append(parked.discarded(reason))
    }

    /// Discards the parked link when its time is over.
    mutating func unparkExpired() {
        guard let parked = state.parked, parked.expires <= input.attributes.time else { return }
        unpark("it could not be followed in time")
    }

    /// Goes where a deep link leads.
    mutating func follow(_ link: FollowedLink) {
        guard !link.isThere(state) else { return }
        let target = link.target
        for command in link.link.sends {
            effects.append(.send(type: command.type, data: .object(command.data.filled(from: link.values))))
        }
        let kept = (
            root: link.keepsRoot(of: state), path: link.keptPath(of: state),
            presentations: link.keptPresentations(of: state)
        )
        dismissPresentations(from: kept.presentations)
        if let root = target.root { follow(link, to: root, keeping: kept.root) }
        if let tab = target.tab, case .tabs(let tabs, _) = state.root.container {
            state.root.container = .tabs(tabs, selected: tab)
        }
        followColumns(link)
        followPath(link, keeping: kept.path)
        guard let present = target.present else { return }
        if kept.presentations > 0 {
            let presentation = state.presentations[0]
            state.presentations[0].path = []
            state.presentations[0].instance = link.updated(presentation.instance, as: present.destination)
            dismiss(presentation.path)
        } else {
            let instance = instantiate(present.destination, link)
            state.presentations.append(Presentation(present.style, instance, options: present.options))
        }
    }

    private mutating func follow(_ link: FollowedLink, to root: Flow.Link.Root, keeping keepsRoot: Bool) {
        if keepsRoot {
            state.root.instance = link.updated(state.root.instance, as: root.destination)
        } else {
            let dismissed = state.standing
            let container = root.container.flatMap(Container.init)
            state.root = RootScreen(instantiate(root.destination, link), container: container)
            state.path = []
            dismiss(dismissed)
        }
    }

    private mutating func followColumns(_ link: FollowedLink) {
        guard case .split(let standing) = state.root.container else { return }
        var columns: [String: ScreenInstance] = [:]
        for (name, destination) in link.target.columns.sorted(by: { $0.key < $1.key }) {
            if let instance = standing[name], link.keeps(instance, as: destination) {
                columns[name] = link.updated(instance, as: destination)
            } else {
                columns[name] = instantiate(destination, link)
            }
        }
        state.root.container = .split(columns: columns)
        let replaced = standing.sorted { $0.key < $1.key }.map(\.value)
        dismiss(replaced.filter { instance in !columns.values.contains { $0.id == instance.id } })
    }

    private mutating func followPath(_ link: FollowedLink, keeping count: Int) {
        let path = link.target.path
        let dismissed = Array(state.path[count...])
        state.path = zip(state.path[..<count], path).map { link.updated($0, as: $1) }
        for destination in path[count...] { state.path.append(instantiate(destination, link)) }
        dismiss(dismissed)
    }

    private mutating func instantiate(_ destination: Flow.Destination, _ link: FollowedLink) -> ScreenInstance {
        memory.instantiate(destination.screen, destination.arguments(from: link.values))
    }
}
