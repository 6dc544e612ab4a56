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
    fileprivate func values(of state: NavigationState) -> [String: String]? {
        guard let pairs = pairs(with: state) else { return nil }
        var values: [String: String] = [:]
        for (destination, instance) in pairs {
            guard let own = destination.values(of: instance), own.allSatisfy({ values[$0.key] ?? $0.value == $0.value })
            else { return nil }
            values.merge(own) { first, _ in first }
        }
        // A value of the query that one screen has and another lacks belongs to no URL.
        return pairs.allSatisfy { $0.0.hasArguments(of: $0.1, for: values) } ? values : nil
    }

    /// What the target wants and what stands in its place; nil when the state has another shape.
    private func pairs(with state: NavigationState) -> [(Flow.Destination, ScreenInstance)]? {
        guard keepsTab(of: state), path.count == state.path.count else { return nil }
        var pairs = Array(zip(path, state.path))
        if let root {
            guard root.fits(state.root.container) else { return nil }
            pairs.append((root.destination, state.root.instance))
        }
        guard Set(columns.keys) == Set(state.columns.keys) else { return nil }
        for (name, destination) in columns {
            if let instance = state.columns[name] { pairs.append((destination, instance)) }
        }
        guard state.presentations.count == (present == nil ? 0 : 1) else { return nil }
        if let present, let presentation = state.presentations.first {
            guard presentation.style == present.style, presentation.path.isEmpty else { return nil }
            pairs.append((present.destination, presentation.instance))
        }
        return pairs
    }

    /// Whether the tab that it wants is selected.
    func keepsTab(of state: NavigationState) -> Bool {
        guard let tab else { return true }
        guard case .tabs(_, let selected) = state.root.container else { return false }
        return selected == tab
    }
}

extension Flow.Link.Root {
    /// Whether a root of this arrangement may stay.
    func fits(_ standing: Container?) -> Bool {
        switch (container, standing) {
        case (nil, _), (.split, .split): true
        case (.tabs(let wanted), .tabs(let tabs, _)): wanted == tabs
        default: false
        }
    }
}

extension NavigationState {
    /// What stands in the columns of a split root, by the columns' names.
    var columns: [String: ScreenInstance] {
        guard case .split(let columns) = root.container else { return [:] }
        return columns
    }
}
