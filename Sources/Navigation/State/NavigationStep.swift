/// A single change of the screens. A sequence of steps leads a view from one state to another.
public enum NavigationStep: Hashable, Sendable {
    /// The root is replaced, with its container. All screens on the former root are removed.
    case setRoot(RootScreen)
    /// Another tab is selected.
    case selectTab(String)
    /// A stack is shown in a column of a split root; nil empties the column.
    case show(ScreenStack?, column: String)
    /// Screens are pushed on a path; the topmost one is last.
    case push([ScreenInstance], on: Layer)
    /// A number of screens is popped from a path.
    case pop(Int, from: Layer)
    /// A number of screens at the end of a path is replaced by these screens.
    case replace(Int, with: [ScreenInstance], on: Layer)
    /// A screen and its path are presented over all others.
    case present(Presentation)
    /// A presentation and everything that it presents are dismissed.
    case dismiss(instance: String)
    /// The arguments of a screen have changed. There is nothing to animate.
    case update(ScreenInstance)

    /// The layer that a path belongs to.
    public enum Layer: Hashable, Sendable {
        /// The root.
        case root
        /// The tab with this name.
        case tab(String)
        /// The column with this name.
        case column(String)
        /// The presentation of the instance with this id.
        case presentation(String)
    }
}

extension NavigationState {
    /// Returns the steps that lead from another state to this one.
    ///
    /// Screens are identified by their instances. Dismissals come first and presentations last, so nothing changes
    /// beneath a presentation that is about to be dismissed. Leaving instances, runs, an attempt and a parked link
    /// cause no steps.
    ///
    /// - Parameter former: The state that the view shows.
    /// - Returns: The steps in order. Empty if a view has nothing to change.
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

    /// The steps for the paths in tabs and columns. If a column has a new first screen, the step `show` includes its
    /// path.
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

    /// The steps for instances whose arguments have changed.
    private func updates(from former: NavigationState) -> [NavigationStep] {
        let before = Dictionary(former.standing.map { ($0.id, $0) }) { first, _ in first }
        return standing.filter { (before[$0.id] ?? $0) != $0 }.map { .update($0) }
    }

    /// Applies a step to this state.
    ///
    /// - Parameter step: A step from ``steps(from:)``. The steps are applied in order.
    public mutating func apply(_ step: NavigationStep) {
        switch step {
        case .setRoot(let root):
            self.root = root
            path = []
            presentations = []
        case .selectTab(let tab):
            guard case .tabs(let tabs, _) = root.container else { return }
            root.container = .tabs(tabs, selected: tab)
        case .show(let stack, let column):
            guard case .split(var columns) = root.container else { return }
            columns[column] = stack
            root.container = .split(columns: columns)
        case .push(let instances, let layer): replace(0, with: instances, on: layer)
        case .pop(let count, let layer): replace(count, with: [], on: layer)
        case .replace(let count, let instances, let layer): replace(count, with: instances, on: layer)
        case .present(let presentation): presentations.append(presentation)
        case .dismiss(let instance):
            let index = presentations.firstIndex { $0.instance.id == instance }
            presentations.removeSubrange((index ?? presentations.endIndex)...)
        case .update(let instance): update(instance)
        }
    }

    private mutating func replace(_ count: Int, with instances: [ScreenInstance], on layer: NavigationStep.Layer) {
        guard let place = place(of: layer) else { return }
        self[place] = self[place].dropLast(count) + instances
    }

    private func place(of layer: NavigationStep.Layer) -> PathPlace? {
        switch layer {
        case .root: .root
        case .tab(let name): .tab(name)
        case .column(let name): .column(name)
        case .presentation(let id): presentations.firstIndex { $0.instance.id == id }.map { .presentation($0) }
        }
    }

    private mutating func update(_ instance: ScreenInstance) {
        func updated(_ standing: ScreenInstance) -> ScreenInstance { standing.id == instance.id ? instance : standing }
        root.instance = updated(root.instance)
        func updated(_ stack: ScreenStack) -> ScreenStack { ScreenStack(updated(stack.instance), path: stack.path) }
        switch root.container {
        case .split(let columns): root.container = .split(columns: columns.mapValues(updated))
        case .tabs(let tabs, let selected):
            root.container = .tabs(tabs.map { Container.Tab($0.name, updated($0.stack)) }, selected: selected)
        case nil: break
        }
        for index in presentations.indices { presentations[index].instance = updated(presentations[index].instance) }
        for place in paths { self[place] = self[place].map(updated) }
    }
}

extension RootScreen {
    /// True if a view can change from one root to the other without replacing it.
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
