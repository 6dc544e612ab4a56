extension NavigationState {
    /// Where a path is.
    enum PathPlace: Hashable, Sendable {
        /// On the root; with tabs nothing is ever pushed there.
        case root
        case column(String)
        case tab(String)
        /// On a presentation, counted from the lowest.
        case presentation(Int)
    }

    /// The path that push and pop work on: the topmost presentation's, else the selected tab's, else the root's.
    public var frontPath: [ScreenInstance] { self[frontPlace] }

    var frontPlace: PathPlace {
        presentations.indices.last.map { .presentation($0) } ?? bottomPlace
    }

    /// Where the path is that presentations lie on: the selected tab's, or else the root's.
    var bottomPlace: PathPlace {
        root.container?.selectedTab.map { .tab($0) } ?? .root
    }

    /// Where paths are, from the bottom up.
    var paths: [PathPlace] {
        let beside: [PathPlace] =
            switch root.container {
            case .split(let columns): columns.keys.sorted().map { .column($0) }
            case .tabs(let tabs, _): tabs.map { .tab($0.name) }
            case nil: []
            }
        return [.root] + beside + presentations.indices.map { .presentation($0) }
    }

    /// The path at a place; empty where there is no such place, and then nothing can be set there.
    subscript(place: PathPlace) -> [ScreenInstance] {
        get {
            switch place {
            case .root: path
            case .column, .tab: stack(at: place)?.path ?? []
            case .presentation(let index): presentations.indices.contains(index) ? presentations[index].path : []
            }
        }
        set {
            switch (place, root.container) {
            case (.root, _): path = newValue
            case (.presentation(let index), _):
                if presentations.indices.contains(index) { presentations[index].path = newValue }
            case (.column(let name), .split(var columns)):
                columns[name]?.path = newValue
                root.container = .split(columns: columns)
            case (.tab(let name), .tabs(var tabs, let selected)):
                guard let index = tabs.firstIndex(where: { $0.name == name }) else { return }
                tabs[index].stack.path = newValue
                root.container = .tabs(tabs, selected: selected)
            case (.column, _), (.tab, _): break
            }
        }
    }

    /// The screen that a path begins above; nil where there is no such place.
    func base(of place: PathPlace) -> ScreenInstance? {
        switch place {
        case .root: root.instance
        case .column, .tab: stack(at: place)?.instance
        case .presentation(let index): presentations.indices.contains(index) ? presentations[index].instance : nil
        }
    }

    private func stack(at place: PathPlace) -> ScreenStack? {
        switch (place, root.container) {
        case (.column(let name), .split(let columns)): columns[name]
        case (.tab(let name), .tabs(let tabs, _)): tabs.first { $0.name == name }?.stack
        default: nil
        }
    }
}
