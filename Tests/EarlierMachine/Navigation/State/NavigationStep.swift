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
    case pop(count: Int, from: Layer)
    /// A number of screens at the end of a path is replaced by these screens.
    case replace(count: Int, with: [ScreenInstance], on: Layer)
    /// A screen and its path are presented over all others in a window. `window` is the id of the instance whose
    /// presentation opened that window; nil for the main window, and for a presentation with the style `window`, which
    /// opens a window of its own.
    case present(Presentation, window: String? = nil)
    /// A presentation and everything that it presents are dismissed.
    case dismiss(instance: String)
    /// The arguments of a screen have changed.
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
        case presentation(instance: String)
    }
}

extension NavigationState {
    /// Returns the steps that lead from another state to this one.
    ///
    /// Screens are identified by the ids of their instances. Dismissals come first and presentations last. Leaving
    /// instances, runs, an attempt and a parked link cause no steps.
    ///
    /// - Parameter former: The state that the view shows.
    /// - Returns: The steps in order. Empty if a view has nothing to change.
    public func steps(from former: NavigationState) -> [NavigationStep] {
        guard root.isSame(as: former.root) else {
            return [.setRoot(root)] + pathSteps(from: [], to: path, on: .root)
                + windows.flatMap { $0.presenting($0.presentations) }
        }
        let kept = windowsKept(from: former)
        let closed = former.windows.filter { window in !kept.contains { $0.former == window } }
        var steps: [NavigationStep] = closed.flatMap { $0.dismissing($0.presentations) }
        for (former, window) in kept { steps += former.dismissing(former.presentations.dropFirst(former.same(window))) }
        steps += updates(from: former)
        steps += containerSteps(from: former)
        steps += pathSteps(from: former.path, to: path, on: .root) + stackSteps(from: former)
        for (former, window) in kept {
            for (former, presentation) in zip(former.presentations, window.presentations.prefix(former.same(window))) {
                steps += pathSteps(
                    from: former.path,
                    to: presentation.path,
                    on: .presentation(instance: presentation.instance.id)
                )
            }
        }
        return steps
            + windows.flatMap { window in
                let same = kept.first { $0.window == window }.map { $0.former.same(window) } ?? 0
                return window.presenting(window.presentations.dropFirst(same))
            }
    }

    /// The windows of both states, the main window first. A window is kept if it stays open. If the order of the
    /// windows changes, only the main window is kept.
    private func windowsKept(from former: NavigationState) -> [(former: WindowContent, window: WindowContent)] {
        let (before, after) = (former.windows, windows)
        let kept = after.compactMap { window in before.first { $0.isSame(as: window) }.map { ($0, window) } }
        let isInOrder =
            kept.map(\.0) == before.filter { window in kept.contains { $0.0 == window } }
            && kept.map(\.1) == Array(after.prefix(kept.count))
        return isInOrder ? kept : Array(kept.prefix(1))
    }

    /// The presentations by window, the main window first.
    private var windows: [WindowContent] {
        var windows = [WindowContent(window: nil, presentations: [])]
        for presentation in presentations {
            if presentation.style == .window {
                windows.append(WindowContent(window: presentation.instance.id, presentations: [presentation]))
            } else {
                windows[windows.endIndex - 1].presentations.append(presentation)
            }
        }
        return windows
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
        case (_, 0): return [.pop(count: gone, from: layer)]
        default: return [.replace(count: gone, with: new, on: layer)]
        }
    }

    /// The steps for instances whose arguments have changed.
    private func updates(from former: NavigationState) -> [NavigationStep] {
        let before = Dictionary(former.open.map { ($0.id, $0) }) { first, _ in first }
        return open.filter { (before[$0.id] ?? $0) != $0 }.map { .update($0) }
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
        case .push(let instances, on: let layer): replace(0, with: instances, on: layer)
        case .pop(count: let count, from: let layer): replace(count, with: [], on: layer)
        case .replace(count: let count, with: let instances, on: let layer): replace(count, with: instances, on: layer)
        case .present(let presentation, let window):
            let scope = window.flatMap { self.scope(of: .presentation(instance: $0)) } ?? bottomScope
            let isWindow = presentation.style == .window
            let index = isWindow ? presentations.endIndex : presentations(inWindowOf: scope).upperBound
            presentations.insert(presentation, at: index)
        case .dismiss(let instance):
            guard let index = presentations.firstIndex(where: { $0.instance.id == instance }) else { return }
            presentations.removeSubrange(index..<presentations(around: index).upperBound)
        case .update(let instance): update(instance)
        }
    }

    private mutating func replace(_ count: Int, with instances: [ScreenInstance], on layer: NavigationStep.Layer) {
        guard let scope = scope(of: layer) else { return }
        self[scope] = self[scope].dropLast(count) + instances
    }

    private mutating func update(_ instance: ScreenInstance) {
        func updated(_ open: ScreenInstance) -> ScreenInstance { open.id == instance.id ? instance : open }
        root.instance = updated(root.instance)
        func updated(_ stack: ScreenStack) -> ScreenStack { ScreenStack(updated(stack.instance), path: stack.path) }
        switch root.container {
        case .split(let columns): root.container = .split(columns: columns.mapValues(updated))
        case .tabs(let tabs, let selected):
            root.container = .tabs(tabs.map { Container.Tab($0.name, updated($0.stack)) }, selected: selected)
        case nil: break
        }
        for index in presentations.indices { presentations[index].instance = updated(presentations[index].instance) }
        for scope in paths { self[scope] = self[scope].map(updated) }
    }
}

/// The presentations in a window; the first one of a window that was presented is the window itself.
private struct WindowContent: Equatable {
    /// The instance of the presentation that opened the window. Nil for the main window.
    let window: String?
    var presentations: [Presentation]

    func isSame(as other: WindowContent) -> Bool {
        guard let first = presentations.first, window != nil else { return window == other.window }
        return other.window == window && other.presentations.first?.isSame(as: first) == true
    }

    /// The number of presentations, from the lowest, that are the same in the other content.
    func same(_ other: WindowContent) -> Int {
        zip(presentations, other.presentations).prefix { $1.isSame(as: $0) }.count
    }

    /// The step that dismisses these presentations. Empty if there are none.
    func dismissing(_ presentations: some Collection<Presentation>) -> [NavigationStep] {
        presentations.first.map { [.dismiss(instance: $0.instance.id)] } ?? []
    }

    /// The steps that present these presentations.
    func presenting(_ presentations: some Collection<Presentation>) -> [NavigationStep] {
        presentations.map { .present($0, window: $0.style == .window ? nil : window) }
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
