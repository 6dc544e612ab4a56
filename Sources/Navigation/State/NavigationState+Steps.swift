extension NavigationState {
    /// The least steps that lead from another state to this one.
    ///
    /// Screens are told apart by their instances. What is dismissed goes first and what is presented comes last, so that
    /// nothing changes behind a presentation that is about to go. What is leaving or parked is no step: nothing that a
    /// view shows depends on it.
    ///
    /// - Parameter former: What the view shows.
    /// - Returns: The steps in their order; none when both show the same.
    public func steps(from former: NavigationState) -> [NavigationStep] {
        guard root.isSame(as: former.root) else {
            return [.setRoot(root)] + pathSteps(from: [], to: path, on: .root) + presentations.map { .present($0) }
        }
        let kept = zip(former.presentations, presentations).prefix { $1.isSame(as: $0) }.map { ($0, $1) }
        let dismissed = former.presentations.dropFirst(kept.count).first
        var steps: [NavigationStep] = dismissed.map { [.dismiss(instance: $0.instance.id)] } ?? []
        steps += updates(from: former)
        steps += containerSteps(from: former)
        steps += pathSteps(from: former.path, to: path, on: .root) + stackSteps(from: former)
        for (former, presentation) in kept {
            steps += pathSteps(
                from: former.path,
                to: presentation.path,
                on: .presentation(presentation.instance.id)
            )
        }
        return steps + presentations.dropFirst(kept.count).map { .present($0) }
    }

    private func containerSteps(from former: NavigationState) -> [NavigationStep] {
        switch (former.root.container, root.container) {
        case (.tabs(_, let before), .tabs(_, let selected)) where before != selected:
            return [.selectTab(selected)]
        case (.split(let before), .split(let columns)):
            let changed = Set(before.keys).union(columns.keys).filter {
                before[$0]?.instance.id != columns[$0]?.instance.id
            }
            return changed.sorted().map { .show(columns[$0], column: $0) }
        default: return []
        }
    }

    /// What changes on the paths beside the root's. A column with another first screen has come with its path.
    private func stackSteps(from former: NavigationState) -> [NavigationStep] {
        switch root.container {
        case .tabs(let tabs, _):
            tabs.flatMap { tab in
                pathSteps(from: former[.tab(tab.name)], to: tab.stack.path, on: .tab(tab.name))
            }
        case .split(let columns):
            columns.sorted { $0.key < $1.key }.flatMap { name, stack -> [NavigationStep] in
                guard former.base(of: .column(name))?.id == stack.instance.id else { return [] }
                return pathSteps(from: former[.column(name)], to: stack.path, on: .column(name))
            }
        case nil: []
        }
    }

    private func pathSteps(
        from former: [ScreenInstance],
        to path: [ScreenInstance],
        on layer: NavigationStep.Layer
    ) -> [NavigationStep] {
        let kept = zip(former, path).prefix { $0.id == $1.id }.count
        let (gone, new) = (former.count - kept, Array(path[kept...]))
        switch (gone, new.count) {
        case (0, 0): return []
        case (0, _): return [.push(new, on: layer)]
        case (_, 0): return [.pop(gone, from: layer)]
        default: return [.replace(gone, with: new, on: layer)]
        }
    }

    /// The instances that have other arguments than before.
    private func updates(from former: NavigationState) -> [NavigationStep] {
        let before = Dictionary(former.standing.map { ($0.id, $0) }) { first, _ in first }
        return standing.filter { (before[$0.id] ?? $0) != $0 }.map { .update($0) }
    }
}

extension RootScreen {
    /// Whether a view can go from one to the other without another root.
    fileprivate func isSame(as former: RootScreen) -> Bool {
        guard instance.id == former.instance.id else { return false }
        return switch (former.container, container) {
        case (nil, nil), (.split, .split): true
        case (.tabs(let before, _), .tabs(let tabs, _)):
            before.map(\.name) == tabs.map(\.name) && before.map(\.stack.instance.id) == tabs.map(\.stack.instance.id)
        default: false
        }
    }
}

extension Presentation {
    fileprivate func isSame(as former: Presentation) -> Bool {
        instance.id == former.instance.id && style == former.style && options == former.options
    }
}
