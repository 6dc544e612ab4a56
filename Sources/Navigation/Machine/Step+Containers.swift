extension Step {
    mutating func setRoot(_ destination: Flow.Destination, _ layout: Flow.Layout?) throws(NavigationFailure) {
        let dismissed = state.standing
        // First of all nothing stands any more, so that what is made now belongs to no run that ends here.
        state.path = []
        state.presentations = []
        state.root.container = nil
        dismiss(dismissed)
        let root = try instantiate(destination)
        state.root = RootScreen(root, container: try container(layout))
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
        let replaced = columns.removeValue(forKey: column)
        state.root.container = .split(columns: columns)
        dismiss(replaced?.instances ?? [])
        columns[column] = ScreenStack(try instantiate(destination))
        state.root.container = .split(columns: columns)
    }

    mutating func pop(_ extent: Flow.Extent, column: String?) throws(NavigationFailure) {
        let place = try place(column)
        let path = state[place]
        let floor = floor(of: place)
        switch extent {
        case .count(let count):
            // A requested count is anything: never trust it to be positive.
            guard count > 0, count <= path.count - floor else { throw .nothingToPop(count, of: path.count - floor) }
            cut(place, from: path.endIndex - count)
        case .to(let screen):
            if let index = path[max(floor - 1, 0)...].lastIndex(where: { $0.screen == screen }) {
                cut(place, from: index + 1)
            } else if floor == 0, state.base(of: place)?.screen == screen {
                cut(place, from: 0)
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

    /// Dismisses what lies on a path from `index` on.
    mutating func cut(_ place: NavigationState.PathPlace, from index: Int) {
        let dismissed = Array(state[place][index...])
        state[place].removeSubrange(index...)
        dismiss(dismissed)
    }

    mutating func replacePath(with destinations: [Flow.Destination]) throws(NavigationFailure) {
        let place = state.frontPlace
        cut(place, from: floor(of: place))
        for destination in destinations { try push(try instantiate(destination), at: place) }
    }

    mutating func push(_ instance: ScreenInstance, at place: NavigationState.PathPlace) throws(NavigationFailure) {
        if case .presentation(let layer) = place {
            let presentation = state.presentations[layer]
            guard !presentation.style.isQuestion else { throw .holdsNoStack(presentation) }
        }
        state[place].append(instance)
    }

    mutating func instantiate(_ destination: Flow.Destination) throws(NavigationFailure) -> ScreenInstance {
        var instance = memory.instantiate(destination.screen, try resolve(destination.arguments))
        guard instance.argumentSize <= ScreenInstance.argumentLimit else { throw .argumentsTooLarge(instance.screen) }
        instance.run = livingRun?.id
        return instance
    }
}
