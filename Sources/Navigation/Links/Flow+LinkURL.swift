extension Flow {
    /// The URL that leads to a state.
    ///
    /// - Parameter state: A state of this flow.
    /// - Returns: The URL in normal form, of the first link that leads there; nil when none does.
    public func url(for state: NavigationState) -> String? {
        for (index, link) in links.enumerated() {
            guard let url = link.url(for: state), let parts = URLParts(url) else { continue }
            // An earlier link would take the URL for its own, and lead elsewhere.
            let isTaken = links[..<index].contains { $0.admits(state) && $0.pattern?.values(in: parts) != nil }
            if !isTaken { return url }
        }
        return nil
    }
}

extension Flow.Link {
    fileprivate func url(for state: NavigationState) -> String? {
        values(of: state).flatMap { pattern?.url(with: $0) }
    }

    /// The values of the URL that leads to a state; nil when none of this link's does.
    func values(of state: NavigationState) -> [String: String]? {
        guard to.root != nil || roots.contains(state.root.instance.screen) || roots.isEmpty else { return nil }
        return to.values(of: state)
    }
}

extension Flow.Link.Target {
    private typealias Pair = (wanted: Flow.Destination, standing: ScreenInstance)

    fileprivate func values(of state: NavigationState) -> [String: String]? {
        guard let pairs = pairs(with: state) else { return nil }
        var values: [String: String] = [:]
        for (destination, instance) in pairs {
            guard let own = destination.values(of: instance), own.allSatisfy({ values[$0.key] ?? $0.value == $0.value })
            else { return nil }
            values.merge(own) { first, _ in first }
        }
        // A value of the query that one screen has and another lacks belongs to no URL.
        return pairs.allSatisfy { $0.wanted.hasArguments(of: $0.standing, for: values) } ? values : nil
    }

    /// What the target wants and what stands in its place; nil when the state has another shape.
    private func pairs(with state: NavigationState) -> [Pair]? {
        guard keepsTab(of: state), root?.fits(state.root.container) ?? true,
            let beside = pairs(withColumnsOf: state), let above = pairs(withPresentationsOf: state)
        else { return nil }
        var wanted = path
        var standing = state[state.bottomPlace]
        if let root {
            wanted.append(root.destination)
            standing.append(state.root.instance)
        }
        if let first, let instance = state.base(of: state.bottomPlace) {
            wanted.append(first)
            standing.append(instance)
        }
        return Self.pairs(wanted, standing).map { $0 + beside + above }
    }

    private func pairs(withColumnsOf state: NavigationState) -> [Pair]? {
        let standing = state.columns
        guard Set(columns.keys) == Set(standing.keys) else { return nil }
        var pairs: [Pair] = []
        for (name, column) in columns {
            guard let own = Self.pairs(column.screens, standing[name]?.instances ?? []) else { return nil }
            pairs += own
        }
        return pairs
    }

    private func pairs(withPresentationsOf state: NavigationState) -> [Pair]? {
        guard let present else { return state.presentations.isEmpty ? [] : nil }
        guard state.presentations.count == 1, let presentation = state.presentations.first,
            presentation.style == present.style
        else { return nil }
        return Self.pairs([present.destination], presentation.instances)
    }

    private static func pairs(_ wanted: [Flow.Destination], _ standing: [ScreenInstance]) -> [Pair]? {
        wanted.count == standing.count ? Array(zip(wanted, standing)) : nil
    }

    /// Whether the tab that it wants is selected.
    func keepsTab(of state: NavigationState) -> Bool {
        tab == nil || tab == state.root.container?.selectedTab
    }
}

extension Flow.Link.Root {
    /// Whether a root of this arrangement may stay.
    func fits(_ standing: Container?) -> Bool {
        switch (container, standing) {
        case (nil, _), (.split, .split): true
        case (.tabs(let wanted), .tabs(let tabs, _)):
            wanted.map(\.name) == tabs.map(\.name)
                && wanted.map(\.destination.screen) == tabs.map(\.stack.instance.screen)
        default: false
        }
    }
}

extension NavigationState {
    /// What stands in the columns of a split root, by the columns' names.
    var columns: [String: ScreenStack] {
        guard case .split(let columns) = root.container else { return [:] }
        return columns
    }
}
