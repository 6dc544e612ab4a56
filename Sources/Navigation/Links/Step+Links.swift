extension Step {
    /// Discards the parked link, visibly.
    mutating func unpark(_ reason: String) {
        guard let parked = state.parked else { return }
        state.parked = nil
        effects.append(parked.discarded(reason))
    }

    /// Discards the parked link when its time is over.
    mutating func unparkExpired() {
        guard let parked = state.parked, parked.expires <= input.attributes.time ?? 0 else { return }
        unpark("it could not be followed in time")
    }

    /// Goes where a deep link leads.
    mutating func follow(_ link: FollowedLink) {
        guard !link.isThere(state) else { return }
        let target = link.target
        for command in link.link.sends {
            effects.append(.send(type: command.type, data: .object(command.data.filled(from: link.values))))
        }
        let kept = link.keptPresentations(of: state)
        dismissPresentations(from: kept)
        if let root = target.root { follow(link, to: root) }
        if let tab = target.tab { try? selectTab(tab) }
        followColumns(link)
        follow(link, along: target.path, at: state.bottomPlace)
        if let present = target.present { follow(link, to: present, keeping: kept > 0) }
    }

    private mutating func follow(_ link: FollowedLink, to root: Flow.Link.Root) {
        if link.keepsRoot(of: state) {
            state.root.instance = link.updated(state.root.instance, as: root.destination)
            if case .tabs(var tabs, let selected) = state.root.container, let first = link.target.first {
                for index in tabs.indices where tabs[index].name == link.target.tab {
                    tabs[index].stack.instance = link.updated(tabs[index].stack.instance, as: first)
                }
                state.root.container = .tabs(tabs, selected: selected)
            }
        } else {
            let dismissed = state.standing
            let instance = instantiate(root.destination, link)
            state.root = RootScreen(instance, container: container(root.container, link))
            state.path = []
            dismiss(dismissed)
        }
    }

    private mutating func container(_ layout: Flow.Layout?, _ link: FollowedLink) -> Container? {
        switch layout {
        case nil: return nil
        case .split: return .split(columns: [:])
        case .tabs(let declared):
            var tabs: [Container.Tab] = []
            for tab in declared {
                tabs.append(Container.Tab(tab.name, ScreenStack(instantiate(tab.destination, link))))
            }
            return tabs.first.map { .tabs(tabs, selected: $0.name) }
        }
    }

    private mutating func followColumns(_ link: FollowedLink) {
        guard case .split(var columns) = state.root.container else { return }
        let wanted = link.target.columns.sorted { $0.key < $1.key }
        for (name, stack) in columns.sorted(by: { $0.key < $1.key }) {
            if let first = link.target.columns[name]?.first, link.keeps(stack.instance, as: first) {
                columns[name]?.instance = link.updated(stack.instance, as: first)
            } else {
                columns[name] = nil
                dismiss(stack.instances)
            }
        }
        for (name, column) in wanted where columns[name] == nil {
            columns[name] = ScreenStack(instantiate(column.first, link))
        }
        state.root.container = .split(columns: columns)
        for (name, column) in wanted { follow(link, along: column.path, at: .column(name)) }
    }

    private mutating func follow(
        _ link: FollowedLink,
        along path: [Flow.Destination],
        at place: NavigationState.PathPlace
    ) {
        let count = link.kept(state[place], as: path)
        cut(place, from: count)
        state[place] = zip(state[place], path).map { link.updated($0, as: $1) }
        for destination in path[count...] { state[place].append(instantiate(destination, link)) }
    }

    private mutating func follow(_ link: FollowedLink, to present: Flow.Link.Presented, keeping isKept: Bool) {
        if isKept, let presentation = state.presentations.first {
            state.presentations[0].instance = link.updated(presentation.instance, as: present.destination)
            cut(.presentation(0), from: 0)
        } else {
            let instance = instantiate(present.destination, link)
            state.presentations.append(Presentation(present.style, instance, options: present.options))
        }
    }

    private mutating func instantiate(_ destination: Flow.Destination, _ link: FollowedLink) -> ScreenInstance {
        memory.instantiate(destination.screen, destination.arguments(from: link.values))
    }
}
