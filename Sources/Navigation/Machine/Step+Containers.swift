extension Step {
    mutating func setRoot(_ destination: Flow.Destination, _ layout: Flow.Layout?) throws(NavigationFailure) {
        let dismissed = state.standing
        let root = try instantiate(destination)
        state.root = RootScreen(root, container: try container(layout))
        state.path = []
        state.presentations = []
        dismiss(dismissed)
    }

    private mutating func container(_ layout: Flow.Layout?) throws(NavigationFailure) -> Container? {
        switch layout {
        case nil: return nil
        case .split: return .split(columns: [:])
        case .tabs(let declared):
            var tabs: [Container.Tab] = []
            for tab in declared { tabs.append(Container.Tab(tab.name, ScreenStack(try instantiate(tab.destination)))) }
            return tabs.first.map { .tabs(tabs, selected: $0.name) }
        }
    }

    mutating func selectTab(_ name: String) throws(NavigationFailure) {
        guard case .tabs(let tabs, _) = state.root.container, tabs.contains(where: { $0.name == name }) else {
            throw .noTab(name)
        }
        state.root.container = .tabs(tabs, selected: name)
    }

    mutating func show(_ destination: Flow.Destination, _ column: String) throws(NavigationFailure) {
        guard case .split(var columns) = state.root.container else { throw .notSplit(column: column) }
        let replaced = columns.updateValue(ScreenStack(try instantiate(destination)), forKey: column)
        state.root.container = .split(columns: columns)
        dismiss(replaced?.instances ?? [])
    }

    mutating func pop(_ extent: Flow.Extent, column: String?) throws(NavigationFailure) {
        let place = try place(column)
        let path = state[place]
        switch extent {
        case .count(let count):
            // A requested count is anything: never trust it to be positive.
            guard count > 0, count <= path.count else { throw .nothingToPop(count, of: path.count) }
            try replacePath(at: place, from: path.endIndex - count, with: [])
        case .to(let screen):
            if let index = path.lastIndex(where: { $0.screen == screen }) {
                try replacePath(at: place, from: path.index(after: index), with: [])
            } else if state.base(of: place)?.screen == screen {
                try replacePath(at: place, from: 0, with: [])
            } else {
                throw .notOnPath(screen)
            }
        }
    }

    /// The path that an action works on: that of the column it names, or else the one in front.
    func place(_ column: String?) throws(NavigationFailure) -> NavigationState.PathPlace {
        guard let column else { return state.frontPlace }
        guard case .split(let columns) = state.root.container else { throw .notSplit(column: column) }
        guard columns[column] != nil else { throw .emptyColumn(column) }
        return .column(column)
    }

    /// Replaces what lies on a path from `index` on: all that push, pop and their kin do.
    mutating func replacePath(
        at place: NavigationState.PathPlace,
        from index: Int,
        with destinations: [Flow.Destination]
    ) throws(NavigationFailure) {
        if case .presentation(let layer) = place, !destinations.isEmpty {
            let presentation = state.presentations[layer]
            guard !presentation.style.isQuestion else { throw .holdsNoStack(presentation) }
        }
        var path = state[place]
        let dismissed = Array(path[index...])
        path.removeSubrange(index...)
        for destination in destinations { path.append(try instantiate(destination)) }
        state[place] = path
        dismiss(dismissed)
    }

    mutating func instantiate(_ destination: Flow.Destination) throws(NavigationFailure) -> ScreenInstance {
        memory.instantiate(destination.screen, try resolve(destination.arguments))
    }
}
